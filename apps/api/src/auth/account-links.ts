import { Injectable } from '@nestjs/common';
import { ApiSettings } from '../api.settings';
import { API_PREFIX } from '../errors';
import { PublicAddress } from '../http/public-address';

const INVITATION_PATH = '/accept-invitation';
const PASSWORD_RESET_PATH = '/reset-password';

/** Where a new user finds the service: what a mail names besides its link. */
export interface WaysIn {
  readonly api: string;
  /** null: it is off, and links lead nowhere */
  readonly console: string | null;
  /** that get the command line and sign in with it */
  readonly commands: readonly string[];
}

/** Links sent by mail. Each leads to the console and ends with the token, which API clients can use directly. */
@Injectable()
export class AccountLinks {
  constructor(
    private readonly address: PublicAddress,
    private readonly settings: ApiSettings,
  ) {}

  invitation(token: string): string {
    return this.address.of(`${INVITATION_PATH}/${token}`);
  }

  passwordReset(token: string): string {
    return this.address.of(`${PASSWORD_RESET_PATH}/${token}`);
  }

  waysIn(organizationSlug: string): WaysIn {
    const url = this.address.of('');
    return {
      api: `${url}${API_PREFIX}`,
      console: this.settings.CONSOLE === 'on' ? `${url}/` : null,
      commands: [
        `curl -fsSLo drawbridge ${url}/downloads/drawbridge.mjs && chmod +x drawbridge`,
        `./drawbridge login --url ${url} --organization ${organizationSlug}`,
      ],
    };
  }
}
