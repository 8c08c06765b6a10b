import type { IncomingHttpHeaders } from 'node:http';
import type { SealedTokens } from '../sealed-tokens';

export const SUBSCRIPTION_ID = '00000000-0000-4000-8000-000000000001';
export const RESOURCE_GROUP = 'simulated-group';
export const TENANT_ID = '00000000-0000-4000-8000-000000000002';
/** The tenant is known by its domain as well. */
export const TENANT_DOMAIN = 'simulated.onmicrosoft.com';
export const CLIENT_ID = '00000000-0000-4000-8000-000000000003';
export const CLIENT_SECRET = 'simulated-client-secret';
export const TOKEN_SECONDS = 3599;
export const ARM_PREFIX = '/azure/arm';

/** URL of the resource manager, as the client calls it. */
export const baseOf = ({ headers }: { headers: IncomingHttpHeaders }): string =>
  `http://${headers.host ?? '127.0.0.1'}${ARM_PREFIX}`;

export type AccessTokens = SealedTokens<{ readonly audience: string }>;

export type TokenProblem = 'missing' | 'invalid' | 'audience' | 'expired';

/** Why an `Authorization` header is invalid; null: it is valid. */
export function tokenProblem(
  header: string | undefined,
  audience: string,
  tokens: AccessTokens,
): TokenProblem | null {
  const [, token] = /^Bearer (\S+)$/.exec(header ?? '') ?? [];
  if (!token) return 'missing';
  const claims = tokens.read(token);
  if (!claims) return 'invalid';
  if (claims.audience !== audience) return 'audience';
  return claims.isExpired ? 'expired' : null;
}
