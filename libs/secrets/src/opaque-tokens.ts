import { createHash, randomBytes } from 'node:crypto';

const TOKEN_BYTES = 32;

export interface OpaqueToken {
  /** given to the client, never stored */
  readonly plainText: string;
  readonly hash: string;
}

/** A token that means nothing to anybody but the database: 256 random bits, base64url. */
export function newOpaqueToken(): OpaqueToken {
  const plainText = randomBytes(TOKEN_BYTES).toString('base64url');
  return { plainText, hash: opaqueTokenHash(plainText) };
}

/** What an opaque token is stored and looked up by: SHA-256, hex. */
export function opaqueTokenHash(plainText: string): string {
  return createHash('sha256').update(plainText, 'utf8').digest('hex');
}
