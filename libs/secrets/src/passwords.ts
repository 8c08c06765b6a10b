import { createHash, randomBytes } from 'node:crypto';
import bcrypt from 'bcrypt';
import { Turns } from './turns';

// bcrypt works in Node's pool of four threads: two stay free for files and name look-ups
const turns = new Turns(2);

/** bcrypt reads 72 bytes and stops at a NUL; the digest's 64 characters make every character of the password count. */
const digest = (password: string): string => createHash('sha384').update(password, 'utf8').digest('base64');

/** Hashes passwords of any length with bcrypt, two at a time. */
export class PasswordHasher {
  /** Of discarded random bytes: compared with when there is no account, so that the answer takes as long. */
  private readonly nobodysHash: Promise<string>;

  /** @param cost the logarithm of bcrypt's rounds, 4 to 31: 12 takes about a quarter of a second */
  constructor(private readonly cost: number) {
    this.nobodysHash = this.hash(randomBytes(32).toString('base64'));
  }

  hash(password: string): Promise<string> {
    return turns.take(() => bcrypt.hash(digest(password), this.cost));
  }

  /**
   * Whether the password is the one that was hashed.
   * @param hash null where there is no account or it has no password: false, in the same time
   */
  async verify(password: string, hash: string | null): Promise<boolean> {
    const compared = hash ?? (await this.nobodysHash);
    const same = await turns.take(() => bcrypt.compare(digest(password), compared));
    return same && hash !== null;
  }

  /** Whether the hash was made with another cost: the time of a comparison tells it from one of today. */
  isOutdated(hash: string): boolean {
    return bcrypt.getRounds(hash) !== this.cost;
  }
}
