import { createHash, randomBytes } from 'node:crypto';

const TOKEN_BYTES = 32;

export interface OpaqueToken {
  /** given to the client, never stored */
  readonly plainText: string;
  readonly hash: string;
}

/** Generates a token without content: 256 random bits, base64url. */
export function newOpaqueToken(): OpaqueToken {
  const plainText = randomBytes(TOKEN_BYTES).toString('base64url');
  return { plainText, hash: opaqueTokenHash(plainText) };
}

/** The hash by which an opaque token is stored and looked up: SHA-256, hex. */
export function opaqueTokenHash(plainText: string): string {
  return createHash('sha256').update(plainText, 'utf8').digest('hex');
}
