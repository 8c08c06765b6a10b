import { Injectable } from '@nestjs/common';
import { API_PREFIX } from '../errors';
import { PublicAddress } from '../http/public-address';
import { SIGN_IN_ERRORS, type SignInError } from './return-place';

const PAGES: Readonly<Record<string, string>> = { console: '/sign-in/sso', code: '/sign-in/sso-code' };

/** Where issuers send people back to, and where these go from there. */
@Injectable()
export class SsoAddresses {
  constructor(private readonly address: PublicAddress) {}

  /** One for each organization, so that an answer of one tenant's issuer is none to another tenant's. */
  callback(organizationSlug: string): string {
    return this.address.of(`${API_PREFIX}/auth/sso/${organizationSlug}/callback`);
  }

  /** @param place as `RETURN_PLACE` has it */
  withCode(place: string, code: string): string {
    return this.at(place, { code });
  }

  withError(place: string, error: SignInError): string {
    return this.at(place, { error, message: SIGN_IN_ERRORS[error] });
  }

  /** Of a page in its fragment, which is sent to no server. */
  private at(place: string, answer: Readonly<Record<string, string>>): string {
    const text = new URLSearchParams(answer).toString();
    const page = PAGES[place];
    if (page !== undefined) return this.address.of(`${page}#${text}`);
    return `http://127.0.0.1:${place}/callback?${text}`;
  }
}
