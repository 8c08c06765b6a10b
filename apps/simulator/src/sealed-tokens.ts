import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Clock } from './ground-truth/clock';

interface Times {
  /** milliseconds since 1970 */
  readonly expiresAt: number;
  /** by the world's clock: later than that of every earlier token */
  readonly issuedAt: number;
}

/** Tokens that contain their claims and a seal. The secret is constant: they stay valid across restarts of the simulator. */
export class SealedTokens<Claims extends object> {
  private revokedUntil = 0;

  constructor(
    private readonly clock: Clock,
    private readonly secret: string,
  ) {}

  issue(claims: Claims, expiresAt: number): string {
    const times: Times = { expiresAt, issuedAt: this.clock.now() };
    const text = Buffer.from(JSON.stringify({ ...claims, ...times })).toString('base64url');
    return `${text}.${this.seal(text)}`;
  }

  /** @returns null for a token that was not issued here; `isExpired` also when it was revoked */
  read(token: string): (Claims & { readonly isExpired: boolean }) | null {
    const [text = '', given = ''] = token.split('.');
    const expected = Buffer.from(this.seal(text));
    const seal = Buffer.from(given);
    if (seal.length !== expected.length || !timingSafeEqual(seal, expected)) return null;
    const claims = JSON.parse(Buffer.from(text, 'base64url').toString()) as Claims & Times;
    return { ...claims, isExpired: claims.expiresAt <= Date.now() || claims.issuedAt <= this.revokedUntil };
  }

  /** A text that cannot be computed without the secret. */
  seal(text: string): string {
    return createHmac('sha256', this.secret).update(text).digest('base64url');
  }

  /** Revokes every token issued so far. */
  revokeAll(): void {
    this.revokedUntil = this.clock.now();
  }

  /** Clears the revocations. */
  reset(): void {
    this.revokedUntil = 0;
  }
}
