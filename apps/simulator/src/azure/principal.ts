import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IssuedTokens } from '../issued-tokens';

export const SUBSCRIPTION_ID = '00000000-0000-4000-8000-000000000001';
export const TENANT_ID = '00000000-0000-4000-8000-000000000002';
export const CLIENT_ID = '00000000-0000-4000-8000-000000000003';
export const CLIENT_SECRET = 'simulated-client-secret';
export const TOKEN_SECONDS = 3599;

/** Seals tokens, so that they outlive a restart of the simulator as they would outlive one of a real endpoint. */
const SEALING_KEY = 'simulated-token-sealing-key';

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
  return `${text}.${seal(text)}`;
}

/** What is wrong with an `Authorization` header; null: nothing. */
export function tokenFlaw(
  header: string | undefined,
  audience: string,
  now: number,
  issued: IssuedTokens,
): TokenFlaw | null {
  const [, token] = /^Bearer (\S+)$/.exec(header ?? '') ?? [];
  if (!token) return 'missing';
  const [text = '', given = ''] = token.split('.');
  const expected = Buffer.from(seal(text));
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

export type TokenFlaw = 'missing' | 'invalid' | 'audience' | 'expired';

const seal = (text: string): string => createHmac('sha256', SEALING_KEY).update(text).digest('base64url');
