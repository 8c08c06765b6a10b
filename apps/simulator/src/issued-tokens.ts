import type { Clock } from './ground-truth/clock';

/** When tokens were issued, and which of them no longer hold. */
export class IssuedTokens {
  private revokedUntil = 0;

  constructor(private readonly clock: Clock) {}

  /** The time to put into a token, microseconds since 1970: later than that of every token before it. */
  stamp(): number {
    return this.clock.now();
  }

  /** Every token issued so far is refused from now on. */
  revokeAll(): void {
    this.revokedUntil = this.clock.now();
  }

  /** @param issuedAt the stamp of a token */
  isRevoked(issuedAt: number): boolean {
    return issuedAt <= this.revokedUntil;
  }

  /** Nothing is revoked any more. */
  reset(): void {
    this.revokedUntil = 0;
  }
}
