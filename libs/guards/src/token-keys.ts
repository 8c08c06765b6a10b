import { createHash, createSecretKey, type KeyObject } from 'node:crypto';

/** A key that tokens are signed with, and the name they carry of it. */
export interface TokenKey {
  readonly id: string;
  /** a KeyObject: with a string, each verification tries to read it as a public key first, forty times slower */
  readonly key: KeyObject;
}

const ID_LENGTH = 16;

/** The key of a secret; its id says nothing of a secret that cannot be guessed. */
export const tokenKeyOf = (secret: string): TokenKey => ({
  id: createHash('sha256').update(`drawbridge token key ${secret}`).digest('base64url').slice(0, ID_LENGTH),
  key: createSecretKey(Buffer.from(secret, 'utf8')),
});

/**
 * The key that a token's header names. Tokens of a release that named none are of the key that signs now.
 * @param keys the one that signs first
 * @returns null when the header is none, names another key, or asks for an extension: none is understood here
 */
export function keyOfToken(keys: readonly TokenKey[], token: string): KeyObject | null {
  const header = headerOf(token);
  if (!header || 'crit' in header) return null;
  if (!('kid' in header)) return keys[0]?.key ?? null;
  return keys.find(({ id }) => id === header['kid'])?.key ?? null;
}

function headerOf(token: string): Record<string, unknown> | null {
  try {
    const text = Buffer.from(token.slice(0, token.indexOf('.')), 'base64url').toString('utf8');
    const header: unknown = JSON.parse(text);
    return typeof header === 'object' && header !== null ? { ...header } : null;
  } catch {
    return null;
  }
}
