import type { IncomingMessage } from 'node:http';
import { Injectable } from '@nestjs/common';
import { PassportStrategy } from '@nestjs/passport';
import { Strategy } from 'passport';
import { GuardSettings } from './guard-settings';
import { presentedCredential } from './presented-credential';
import { PrincipalLookup, type Principal } from './principal';

export const API_KEY = 'drawbridge-api-key';

/** `X-API-Key: …` or `Authorization: ApiKey …`: reads the key's principal and records the key's use. */
@Injectable()
export class ApiKeyStrategy extends PassportStrategy(Strategy, API_KEY) {
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

  /** @returns null when the request presents no key, or one that is invalid, expired or revoked */
  async validate(request: IncomingMessage): Promise<Principal | null> {
    const presented = presentedCredential(request.headers);
    const hash = presented.kind === 'key' ? this.settings.hashApiKey(presented.text) : null;
    return hash === null ? null : this.lookup.ofApiKey(hash, this.settings.callerAddressOf(request));
  }
}
