import { createHash } from 'node:crypto';
import bcrypt from 'bcrypt';
import { Turns } from './turns';

const COST = 12;
/** Of random bytes nobody kept: compared with when there is no account, so that the answer takes as long. */
const NOBODYS_HASH = '$2b$12$cekMTonVw.NSDq.TUm/BV.PfEFDUEMCnEoPXEwr5Dg22kPbWla38.';

// bcrypt works in Node's pool of four threads: two stay free for files and name look-ups
const turns = new Turns(2);

/** bcrypt reads 72 bytes and stops at a NUL; the digest's 64 characters make every character of the password count. */
const digest = (password: string): string => createHash('sha384').update(password, 'utf8').digest('base64');

/** A bcrypt hash (cost 12, about a quarter of a second) of a password of any length. */
export function hashPassword(password: string): Promise<string> {
  return turns.take(() => bcrypt.hash(digest(password), COST));
}

/**
 * Whether the password is the one that was hashed.
 * @param hash null where there is no account or it has no password: false, in the same time
 */
export async function verifyPassword(password: string, hash: string | null): Promise<boolean> {
  const same = await turns.take(() => bcrypt.compare(digest(password), hash ?? NOBODYS_HASH));
  return same && hash !== null;
}
