import { JwtService } from '@nestjs/jwt';
import { isId } from '#rules';
import type { GuardSettings } from './guard-settings';
import { keyOfToken } from './token-keys';

export const TOKEN_ALGORITHM = 'HS256';
export const TOKEN_ISSUER = 'drawbridge';
export const TOKEN_AUDIENCE = 'drawbridge-api';

export const isUuid = (value: unknown): value is string => typeof value === 'string' && isId(value);

/** The user of a token. */
export interface TokenHolder {
  readonly userId: string;
  readonly organizationId: string;
}

/** @returns null when the payload is of another type (all token types are signed with the same key) or has no expiry */
export function holderOf(payload: Record<string, unknown>, types: readonly string[]): TokenHolder | null {
  const { typ, sub, org, exp } = payload;
  if (typeof exp !== 'number') return null;
  if (typeof typ !== 'string' || !types.includes(typ)) return null;
  return isUuid(sub) && isUuid(org) ? { userId: sub, organizationId: org } : null;
}

/** Signs and verifies with the fixed algorithm, issuer and audience. */
export const signer = ({ tokenKeys: [current] }: GuardSettings): JwtService =>
  new JwtService({
    secret: current.key,
    signOptions: {
      algorithm: TOKEN_ALGORITHM,
      keyid: current.id,
      issuer: TOKEN_ISSUER,
      audience: TOKEN_AUDIENCE,
    },
    verifyOptions: { algorithms: [TOKEN_ALGORITHM], issuer: TOKEN_ISSUER, audience: TOKEN_AUDIENCE },
  });

/** @returns null when the token is expired or forged: the reason must not be revealed */
export async function payloadOf(
  jwt: JwtService,
  { tokenKeys }: GuardSettings,
  token: string,
): Promise<Record<string, unknown> | null> {
  const key = keyOfToken(tokenKeys, token);
  if (!key) return null;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- jsonwebtoken takes a KeyObject, the types do not know
  const secret = key as unknown as Buffer;
  try {
    return await jwt.verifyAsync<Record<string, unknown>>(token, { secret });
  } catch {
    return null;
  }
}
