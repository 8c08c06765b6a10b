import { Injectable } from '@nestjs/common';
import { PublicAddress } from '../http/public-address';

/** The addresses mail leads to. Each ends in the token, which is all a client needs of it. */
@Injectable()
export class AccountLinks {
  constructor(private readonly address: PublicAddress) {}

  invitation(token: string): string {
    return this.address.of(`/accept-invitation/${token}`);
  }

  passwordReset(token: string): string {
    return this.address.of(`/reset-password/${token}`);
  }
}
