import { sign, type KeyObject } from 'node:crypto';

/**
 * A JWT signed by RS256 (RFC 7515, compact serialization).
 * @param keyId the `kid` of its header; null: none
 */
export function signedJwt(claims: object, keyId: string | null, key: KeyObject): string {
  const header = { alg: 'RS256', typ: 'JWT', ...(keyId && { kid: keyId }) };
  const text = [header, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.');
  return `${text}.${sign('RSA-SHA256', Buffer.from(text), key).toString('base64url')}`;
}
