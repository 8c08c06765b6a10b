import { Injectable } from '@nestjs/common';
import { PublicAddress } from '../http/public-address';

const INVITATION_PATH = '/accept-invitation';
const PASSWORD_RESET_PATH = '/reset-password';

/** Links sent by mail. Each leads to the console and ends with the token, which API clients can use directly. */
@Injectable()
export class AccountLinks {
  constructor(private readonly address: PublicAddress) {}

  invitation(token: string): string {
    return this.address.of(`${INVITATION_PATH}/${token}`);
  }

  passwordReset(token: string): string {
    return this.address.of(`${PASSWORD_RESET_PATH}/${token}`);
  }

  /** The commands that get the command line and sign in with it. */
  signIn(organizationSlug: string): readonly [download: string, login: string] {
    const url = this.address.of('');
    return [
      `curl -fsSLo drawbridge ${url}/downloads/drawbridge.mjs && chmod +x drawbridge`,
      `./drawbridge login --url ${url} --organization ${organizationSlug}`,
    ];
  }
}
