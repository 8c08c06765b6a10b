import { createHash, randomBytes } from 'node:crypto';
import { availableParallelism } from 'node:os';
import bcrypt from 'bcrypt';
import { ConcurrencyLimiter } from './concurrency-limiter';

/**
 * bcrypt uses Node's pool of four threads: two stay free for files and name look-ups. One core stays free for everything
 * else that the process does.
 */
const AT_ONCE = Math.max(1, Math.min(2, availableParallelism() - 1));
const limiter = new ConcurrencyLimiter(AT_ONCE);

/** bcrypt reads at most 72 bytes and stops at a NUL; the digest's 64 characters depend on the whole password. */
const digest = (password: string): string => createHash('sha384').update(password, 'utf8').digest('base64');

/** Hashes passwords of any length with bcrypt, one or two at a time. */
export class PasswordHasher {
  /** Hash of random bytes: compared with when there is no account, so that the answer takes as long. */
  private readonly dummyHash: Promise<string>;

  /** @param cost the logarithm of bcrypt's rounds, 4 to 31: 12 takes about a quarter of a second */
  constructor(private readonly cost: number) {
    this.dummyHash = this.hash(randomBytes(32).toString('base64'));
  }

  hash(password: string): Promise<string> {
    return limiter.run(() => bcrypt.hash(digest(password), this.cost));
  }

  /**
   * Compares a password with a hash.
   * @param hash null when there is no account or it has no password: returns false after the same time
   */
  async verify(password: string, hash: string | null): Promise<boolean> {
    const compared = hash ?? (await this.dummyHash);
    const same = await limiter.run(() => bcrypt.compare(digest(password), compared));
    return same && hash !== null;
  }

  /** Whether the hash was made with another cost, which the time of a comparison would reveal. */
  isOutdated(hash: string): boolean {
    return bcrypt.getRounds(hash) !== this.cost;
  }
}
