import { Injectable } from '@nestjs/common';
import { ApiSettings } from '../api.settings';

/** The addresses mail leads to. Each ends in the token, which is all a client needs of it. */
@Injectable()
export class AccountLinks {
  private readonly base: string;

  constructor({ PUBLIC_URL, PORT }: ApiSettings) {
    this.base = (PUBLIC_URL ?? `http://localhost:${PORT}`).replace(/\/+$/, '');
  }

  invitation(token: string): string {
    return `${this.base}/accept-invitation/${token}`;
  }

  passwordReset(token: string): string {
    return `${this.base}/reset-password/${token}`;
  }
}
