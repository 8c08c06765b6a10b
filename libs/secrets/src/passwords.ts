import { createHash, randomBytes } from 'node:crypto';
import { availableParallelism } from 'node:os';
import bcrypt from 'bcrypt';
import { FairLimiter, TooBusy } from '#rules';

/**
 * bcrypt uses Node's pool of four threads: two stay free for files and name look-ups. One core stays free for everything
 * else that the process does.
 */
const AT_ONCE = Math.max(1, Math.min(2, availableParallelism() - 1));
/** The last one waits for about ten seconds. */
const MAX_WAITING = 50;
const limiter = new FairLimiter(AT_ONCE, MAX_WAITING);

/** bcrypt reads at most 72 bytes and stops at a NUL; the digest's 64 characters depend on the whole password. */
const digest = (password: string): string => createHash('sha384').update(password, 'utf8').digest('base64');

const composed = (password: string): string => password.normalize('NFC');

/** For whom a password is hashed. */
export interface HashClient {
  /** clients take turns by it: a network, or a user */
  readonly group: string;
  /** the hash is not made once it aborts */
  readonly disconnected?: AbortSignal;
}

/**
 * Hashes passwords of any length with bcrypt, one or two at a time. Its calls throw `TooBusy`. Passwords are hashed in NFC:
 * systems differ in how their keyboards write a letter with a mark.
 */
export class PasswordHasher {
  /** Hash of random bytes: compared with when there is no account, so that the answer takes as long. */
  private readonly dummyHash = this.hash(randomBytes(32).toString('base64'), { group: '' });

  /** @param cost the logarithm of bcrypt's rounds, 4 to 31: 12 takes about a quarter of a second */
  constructor(private readonly cost: number) {}

  /** Call it before an attempt is counted. @throws TooBusy when a hash for this client would be refused now */
  refuseIfBusy({ group }: HashClient): void {
    if (!limiter.hasRoomFor(group)) throw new TooBusy(false);
  }

  hash(password: string, { group, disconnected }: HashClient): Promise<string> {
    return limiter.run(group, () => bcrypt.hash(digest(composed(password)), this.cost), disconnected);
  }

  /**
   * Compares a password with a hash, which may have been made of the password as it was typed.
   * @param hash null when there is no account or it has no password: returns false after the same time
   */
  async verify(password: string, hash: string | null, { group, disconnected }: HashClient): Promise<boolean> {
    const compared = hash ?? (await this.dummyHash);
    for (const form of new Set([composed(password), password])) {
      const same = await limiter.run(group, () => bcrypt.compare(digest(form), compared), disconnected);
      if (same) return hash !== null;
    }
    return false;
  }

  /**
   * Whether the hash of this password was made with another cost, which the time of a comparison would reveal, or of the
   * password as it was typed.
   */
  async isOutdated(hash: string, password: string, client: HashClient): Promise<boolean> {
    if (bcrypt.getRounds(hash) !== this.cost) return true;
    return composed(password) !== password && !(await this.verify(composed(password), hash, client));
  }
}
