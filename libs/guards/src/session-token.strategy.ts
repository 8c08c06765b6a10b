import type { IncomingMessage } from 'node:http';
import { Injectable } from '@nestjs/common';
import { PassportStrategy } from '@nestjs/passport';
import { Strategy } from 'passport';
import { GuardSettings } from './guard-settings';
import { presentedCredential } from './presented-credential';
import { PrincipalLookup, type Principal } from './principal';

export const SESSION_TOKEN = 'drawbridge-session-token';

/** `Authorization: Session …`: reads the principal of the session that the token is for. */
@Injectable()
export class SessionTokenStrategy extends PassportStrategy(Strategy, SESSION_TOKEN) {
  constructor(
    private readonly settings: GuardSettings,
    private readonly lookup: PrincipalLookup,
  ) {
    super();
  }

  /** Called by passport. Ends in `success`, `fail` or `error`, never in an exception. */
  override authenticate(request: IncomingMessage): void {
    this.validate(request).then(
      (principal) => (principal ? this.success(principal) : this.fail(401)),
      (error: unknown) => this.error(error),
    );
  }

  /** @returns null when the request presents no session token, or one that is not or no longer valid */
  async validate(request: IncomingMessage): Promise<Principal | null> {
    const presented = presentedCredential(request.headers);
    const hash = presented.kind === 'session' ? this.settings.hashSessionToken(presented.text) : null;
    return hash === null ? null : this.lookup.ofSession(hash);
  }
}
