import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IssuedTokens } from '../issued-tokens';

export const SUBSCRIPTION_ID = '00000000-0000-4000-8000-000000000001';
export const TENANT_ID = '00000000-0000-4000-8000-000000000002';
/** The tenant is known by its domain as well. */
export const TENANT_DOMAIN = 'simulated.onmicrosoft.com';
export const CLIENT_ID = '00000000-0000-4000-8000-000000000003';
export const CLIENT_SECRET = 'simulated-client-secret';
export const TOKEN_SECONDS = 3599;

/** A constant key, so that tokens stay valid across restarts of the simulator. */
const SIGNING_KEY = 'simulated-token-sealing-key';

/** A bearer token for an audience. @param now milliseconds since 1970 */
export function issueToken(audience: string, now: number, stamp: number): string {
  const claims = {
    aud: audience,
    tid: TENANT_ID,
    appid: CLIENT_ID,
    exp: Math.floor(now / 1000) + TOKEN_SECONDS,
    stamp,
  };
  const text = Buffer.from(JSON.stringify(claims)).toString('base64url');
  return `${text}.${signatureOf(text)}`;
}

/** Why an `Authorization` header is invalid; null: it is valid. */
export function tokenProblem(
  header: string | undefined,
  audience: string,
  now: number,
  issued: IssuedTokens,
): TokenProblem | null {
  const [, token] = /^Bearer (\S+)$/.exec(header ?? '') ?? [];
  if (!token) return 'missing';
  const [text = '', given = ''] = token.split('.');
  const expected = Buffer.from(signatureOf(text));
  const presented = Buffer.from(given);
  if (presented.length !== expected.length || !timingSafeEqual(presented, expected)) return 'invalid';
  const { aud, exp, stamp } = JSON.parse(Buffer.from(text, 'base64url').toString()) as {
    aud: string;
    exp: number;
    stamp: number;
  };
  if (aud !== audience) return 'audience';
  return exp * 1000 <= now || issued.isRevoked(stamp) ? 'expired' : null;
}

export type TokenProblem = 'missing' | 'invalid' | 'audience' | 'expired';

const signatureOf = (text: string): string =>
  createHmac('sha256', SIGNING_KEY).update(text).digest('base64url');
