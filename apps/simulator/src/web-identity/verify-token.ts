import { createLocalJWKSet, decodeJwt, errors, jwtVerify, type JSONWebKeySet, type JWTPayload } from 'jose';
import type { Trusting, Trusts } from './trusts';

/** Why a cloud refuses a token. */
export type TokenProblem =
  | 'malformed'
  | 'unknown-issuer'
  | 'unreachable'
  | 'wrong-issuer'
  | 'algorithm'
  | 'key'
  | 'signature'
  | 'audience'
  | 'expired'
  | 'not-yet'
  | 'claims'
  | 'subject';

const MAX_TOKEN_LENGTH = 20_000;
const FETCH_TIMEOUT_MS = 3000;
/** How far in the future a token may have been issued, by the cloud's clock. */
const MAX_SKEW_SECONDS = 60;
/** By jose's error codes; other errors are `malformed`. */
const PROBLEMS: Readonly<Record<string, TokenProblem>> = {
  [errors.JOSEAlgNotAllowed.code]: 'algorithm',
  [errors.JWKSNoMatchingKey.code]: 'key',
  [errors.JWKSMultipleMatchingKeys.code]: 'key',
  [errors.JWSSignatureVerificationFailed.code]: 'signature',
  [errors.JWTExpired.code]: 'expired',
};
const TIMES = ['iat', 'nbf', 'exp'] as const;

/**
 * Verifies a token as a cloud does: fetches what the trusted issuer publishes, unless its keys were uploaded,
 * then checks signature and claims.
 * @returns null when it is accepted
 */
export async function tokenProblem(
  token: string,
  provider: Trusting,
  trusts: Trusts,
): Promise<TokenProblem | null> {
  const claimed = issuerOf(token);
  if (claimed === null) return 'malformed';
  const trust = trusts.of(provider, claimed);
  if (!trust) return 'unknown-issuer';
  const keys = trust.jwks ?? (await fetchKeys(trust.issuer));
  if (typeof keys === 'string') return keys;
  let claims: JWTPayload;
  try {
    const { issuer, audience } = trust;
    const options = { algorithms: ['RS256'], issuer, audience, requiredClaims: ['sub', 'iat', 'exp'] };
    ({ payload: claims } = await jwtVerify(token, createLocalJWKSet(keys), options));
  } catch (error) {
    return problemOf(error);
  }
  if (!TIMES.every((name) => claims[name] === undefined || Number.isInteger(claims[name]))) return 'claims';
  if (claims.iat! > Date.now() / 1000 + MAX_SKEW_SECONDS) return 'not-yet';
  return trust.subject === null || claims.sub === trust.subject ? null : 'subject';
}

function issuerOf(token: string): string | null {
  if (token.length > MAX_TOKEN_LENGTH) return null;
  try {
    return decodeJwt(token).iss ?? null;
  } catch {
    // jose says no more than that it is no token
    return null;
  }
}

/** The issuer's keys, found by its own description. */
async function fetchKeys(issuer: string): Promise<JSONWebKeySet | 'unreachable' | 'wrong-issuer'> {
  try {
    const described = await json<{ issuer?: string; jwks_uri?: string }>(
      `${issuer}/.well-known/openid-configuration`,
    );
    if (described.issuer !== issuer || described.jwks_uri === undefined) return 'wrong-issuer';
    return await json<JSONWebKeySet>(described.jwks_uri);
  } catch {
    // a cloud does not say more about a foreign server either
    return 'unreachable';
  }
}

async function json<T>(url: string): Promise<T> {
  const response = await fetch(url, { redirect: 'error', signal: AbortSignal.timeout(FETCH_TIMEOUT_MS) });
  if (!response.ok) throw new Error(`HTTP ${response.status}`);
  return (await response.json()) as T;
}

function problemOf(error: unknown): TokenProblem {
  if (error instanceof errors.JWTClaimValidationFailed) {
    if (error.claim === 'aud') return 'audience';
    return error.claim === 'nbf' ? 'not-yet' : 'claims';
  }
  return error instanceof errors.JOSEError ? (PROBLEMS[error.code] ?? 'malformed') : 'malformed';
}
