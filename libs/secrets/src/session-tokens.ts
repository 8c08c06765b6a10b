import { createHmac } from 'node:crypto';
import type { DataKey } from './data-keys';
import { opaqueTokenHash } from './opaque-tokens';

const PREFIX = 'dbs_';
/** HMAC-SHA-256, base64url */
const FORM = /^dbs_[\w-]{43}$/;

/** The token of one session: `dbs_` and 256 bits, base64url. The same data key and session give the same token. */
export function sessionToken(dataKey: DataKey, sessionId: string): string {
  const derived = createHmac('sha256', dataKey.key).update(JSON.stringify(['session-token', sessionId]));
  return PREFIX + derived.digest('base64url');
}

/**
 * The hash by which a session token is stored and looked up: SHA-256, hex.
 * @returns null when the text cannot be one
 */
export const sessionTokenHash = (plainText: string): string | null =>
  FORM.test(plainText) ? opaqueTokenHash(plainText) : null;
