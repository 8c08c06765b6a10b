import type { IncomingMessage } from 'node:http';
import { Injectable } from '@nestjs/common';
import { PassportStrategy } from '@nestjs/passport';
import { Strategy } from 'passport';
import { GuardSettings } from './guard-settings';
import { presentedCredential } from './presented-credential';
import { PrincipalLookup, type Principal } from './principal';

export const SECRET = 'drawbridge-secret';

/**
 * Reads the principal of a secret that the database knows by its hash: a key (`X-API-Key: …`, `Authorization: ApiKey …`),
 * whose use is recorded, or a session's token (`Authorization: Session …`).
 */
@Injectable()
export class SecretStrategy extends PassportStrategy(Strategy, SECRET) {
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

  /** @returns null when the request presents neither, or one that is not or no longer valid */
  async validate(request: IncomingMessage): Promise<Principal | null> {
    const presented = presentedCredential(request.headers);
    if (presented.kind === 'key') {
      const hash = this.settings.hashApiKey(presented.text);
      return hash === null ? null : this.lookup.ofApiKey(hash, this.settings.callerAddressOf(request));
    }
    const hash = presented.kind === 'session' ? this.settings.hashSessionToken(presented.text) : null;
    return hash === null ? null : this.lookup.ofSession(hash);
  }
}
