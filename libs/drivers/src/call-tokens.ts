import { BoundedCache } from './bounded-cache';
import { CallFailure, TokenRefused } from './call-failure';

/** What a cloud gives for a credential, for a while. */
export interface IssuedToken<T> {
  readonly token: T;
  /** milliseconds since 1970 */
  readonly expiresAt: number;
}

interface CachedToken<T> {
  readonly issued: Promise<T>;
  /** missing while it is requested */
  token?: T;
  /** milliseconds since 1970 */
  renewAt: number;
}

const CAPACITY = 200;
const RENEW_BEFORE_MS = 300_000;

/** Short-lived tokens by credential, renewed five minutes before they expire. */
export class TokenCache<T> {
  private readonly tokens = new BoundedCache<CachedToken<T>>(CAPACITY);

  /**
   * The token for one call of the driver. Calls that need one at the same time share one request for it.
   * @param key changes with every part of the credential and gives none of them away
   * @param issue requests a token. Whatever it throws is thrown on.
   */
  async take(key: string, issue: () => Promise<IssuedToken<T>>): Promise<CallToken<T>> {
    const isCached = this.current(key)?.token !== undefined;
    const token = await this.token(key, issue);
    if (!isCached) return new CallToken(token);
    return new CallToken(token, async () => {
      if (this.tokens.get(key)?.token === token) this.tokens.delete(key);
      return this.token(key, issue);
    });
  }

  /** Makes the next call request a token: what it allows can have changed since. */
  forget(key: string): void {
    this.tokens.delete(key);
  }

  private current(key: string): CachedToken<T> | undefined {
    const known = this.tokens.get(key);
    return known && Date.now() < known.renewAt ? known : undefined;
  }

  private async token(key: string, issue: () => Promise<IssuedToken<T>>): Promise<T> {
    const known = this.current(key);
    if (known) return known.issued;
    const requested: CachedToken<T> = {
      renewAt: Number.POSITIVE_INFINITY,
      issued: issue().then(({ token, expiresAt }) => {
        requested.token = token;
        requested.renewAt = expiresAt - RENEW_BEFORE_MS;
        return token;
      }),
    };
    this.tokens.set(key, requested);
    try {
      return await requested.issued;
    } catch (error) {
      if (this.tokens.get(key) === requested) this.tokens.delete(key);
      throw error;
    }
  }
}

/**
 * The token that one call of the driver makes its requests with. One from the cache that the cloud refuses is replaced
 * once: it may have expired by the cloud's clock, or have been revoked. A new one that is refused says that the
 * credential is.
 */
export class CallToken<T> {
  private renewal: Promise<T> | null = null;
  private token: T;

  /** @param renew requests another one; left out: the token is new */
  constructor(
    private readonly first: T,
    private readonly renew: (() => Promise<T>) | null = null,
  ) {
    this.token = first;
  }

  /** The one to make the next request with. */
  get current(): T {
    return this.token;
  }

  /** Sends a request, and sends it again when the token was refused: then the cloud did nothing. */
  async use<R>(send: (token: T) => Promise<R>): Promise<R> {
    const used = this.token;
    try {
      return await send(used);
    } catch (error) {
      const other = error instanceof TokenRefused ? await this.insteadOf(used) : null;
      if (other === null) throw error;
      return send(other);
    }
  }

  /**
   * @returns what to send a request with whose token was refused; null when no other one would help
   * @throws what requesting another one throws, as a failure after which the refused request surely was not carried out
   */
  async insteadOf(refused: T): Promise<T | null> {
    if (!this.renew || refused !== this.first) return null;
    this.renewal ??= this.renew().catch((error: unknown) => {
      throw error instanceof CallFailure ? error.unsent : error;
    });
    this.token = await this.renewal;
    return this.token;
  }
}
