import { LRUCache } from 'lru-cache';
import { CallFailure, TokenRefused } from './call-failure';
import { DriverError } from './driver-error';

/** A short-lived token that a cloud issues for a credential. */
export interface IssuedToken<T> {
  readonly token: T;
  /** milliseconds since 1970 */
  readonly expiresAt: number;
}

interface CachedToken<T> {
  readonly issued: Promise<T>;
  /** undefined while the request is in flight */
  token?: T;
  /** milliseconds since 1970 */
  renewAt: number;
}

const CAPACITY = 200;
const RENEW_BEFORE_MS = 300_000;

/** Short-lived tokens by credential, renewed five minutes before they expire. */
export class TokenCache<T> {
  private readonly tokens: LRUCache<string, CachedToken<T>>;

  /** @param capacity maximum number of tokens; the least recently used one is dropped, and requested again when needed */
  constructor(capacity = CAPACITY) {
    this.tokens = new LRUCache({ max: capacity });
  }

  /**
   * The token for one driver call. Concurrent calls share one request.
   * @param key see `fingerprint`
   * @param issue requests a token; its errors are rethrown and not cached
   */
  async take(key: string, issue: () => Promise<IssuedToken<T>>): Promise<CallToken<T>> {
    const isCached = this.current(key)?.token !== undefined;
    const token = await this.obtain(key, issue);
    const forget = (): void => void this.tokens.delete(key);
    if (!isCached) return new CallToken(token, null, forget);
    const renew = (): Promise<T> => {
      if (this.tokens.get(key)?.token === token) this.tokens.delete(key);
      return this.obtain(key, issue);
    };
    return new CallToken(token, renew, forget);
  }

  private current(key: string): CachedToken<T> | undefined {
    const known = this.tokens.get(key);
    return known && Date.now() < known.renewAt ? known : undefined;
  }

  private async obtain(key: string, issue: () => Promise<IssuedToken<T>>): Promise<T> {
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
 * The token for the requests of one driver call. A cached token that the cloud refuses is replaced once: it may have
 * expired by the cloud's clock, or have been revoked. If a new token is refused, the credential itself is refused.
 */
export class CallToken<T> {
  private renewal: Promise<T> | null = null;
  private token: T;

  /**
   * @param renew requests a replacement; null: the token is new and is not replaced
   * @param forget makes the next driver call request a new token
   */
  constructor(
    private readonly first: T,
    private readonly renew: (() => Promise<T>) | null = null,
    private readonly forget: () => void = () => undefined,
  ) {
    this.token = first;
  }

  /** The token for the next request. */
  get current(): T {
    return this.token;
  }

  /** Runs a driver call. After a failure that a new token may fix, the next one requests a new token. */
  async run<R>(work: () => Promise<R>): Promise<R> {
    try {
      return await work();
    } catch (error) {
      this.forgetAfter(error);
      throw error;
    }
  }

  /** Drops the cached token after a denial, because the permissions may have changed since, and when it was refused. */
  forgetAfter(error: unknown): void {
    const isDenial = error instanceof DriverError && error.kind === 'denied';
    if (isDenial || error instanceof TokenRefused) this.forget();
  }

  /** Sends a request, and retries it once if the token was refused: the cloud did nothing then. */
  async use<R>(send: (token: T) => Promise<R>): Promise<R> {
    const used = this.token;
    try {
      return await send(used);
    } catch (error) {
      const replacement = error instanceof TokenRefused ? await this.replace(used) : null;
      if (replacement === null) throw error;
      return send(replacement);
    }
  }

  /**
   * Replaces a refused token. Concurrent callers share one request.
   * @returns the token for the retry; null when the refused token was new or is already the replacement
   * @throws the failure of the token request, as a settled failure: the refused request was not carried out
   */
  async replace(refused: T): Promise<T | null> {
    if (!this.renew || refused !== this.first) return null;
    this.renewal ??= this.renew().catch((error: unknown) => {
      throw error instanceof CallFailure ? error.unsent : error;
    });
    this.token = await this.renewal;
    return this.token;
  }
}
