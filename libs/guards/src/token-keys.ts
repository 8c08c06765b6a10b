import { createHash, createSecretKey, type KeyObject } from 'node:crypto';

/** A signing key and its id, which is the `kid` of tokens. */
export interface TokenKey {
  readonly id: string;
  /** a KeyObject: a string would be parsed as a public key at each verification, which is forty times slower */
  readonly key: KeyObject;
}

const ID_LENGTH = 16;

/** The key of a secret. Its id does not reveal an unguessable secret. */
export const tokenKeyOf = (secret: string): TokenKey => ({
  id: createHash('sha256').update(`drawbridge token key ${secret}`).digest('base64url').slice(0, ID_LENGTH),
  key: createSecretKey(Buffer.from(secret, 'utf8')),
});

/**
 * The key named by a token's header; without a key id, the current signing key.
 * @param keys the signing key first
 * @returns null when the header is malformed, names an unknown key, or requires an extension: none is supported
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
