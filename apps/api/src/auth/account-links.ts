import { Injectable } from '@nestjs/common';
import { PublicAddress } from '../http/public-address';

export const INVITATION_PATH = '/accept-invitation';
export const PASSWORD_RESET_PATH = '/reset-password';

/** The addresses mail leads to. A page each; it ends in the token, which is all a client of the API needs of it. */
@Injectable()
export class AccountLinks {
  constructor(private readonly address: PublicAddress) {}

  invitation(token: string): string {
    return this.address.of(`${INVITATION_PATH}/${token}`);
  }

  passwordReset(token: string): string {
    return this.address.of(`${PASSWORD_RESET_PATH}/${token}`);
  }
}
