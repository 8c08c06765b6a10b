import type { Clock } from './ground-truth/clock';

/** Issue times of tokens, and which tokens are revoked. */
export class IssuedTokens {
  private revokedUntil = 0;

  constructor(private readonly clock: Clock) {}

  /** Issue time for a new token, microseconds since 1970: later than that of every earlier token. */
  stamp(): number {
    return this.clock.now();
  }

  /** Revokes every token issued so far. */
  revokeAll(): void {
    this.revokedUntil = this.clock.now();
  }

  /** @param issuedAt what `stamp` returned for the token */
  isRevoked(issuedAt: number): boolean {
    return issuedAt <= this.revokedUntil;
  }

  /** Clears the revocations. */
  reset(): void {
    this.revokedUntil = 0;
  }
}
