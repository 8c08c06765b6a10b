import { createHmac, timingSafeEqual, verify } from 'node:crypto';
import { applyFault, type Refusal } from '../faults/apply-fault';
import type { CallEffect } from '../faults/fault-script';
import type { IssuedTokens } from '../issued-tokens';
import type { CloudAnswer, CloudRequest, NO_ANSWER, World } from '../provider';
import { jsonAnswer } from './gcp-error';
import { CLIENT_EMAIL, PUBLIC_KEY } from './service-account';

export const TOKEN_EFFECTS: Readonly<Record<string, CallEffect>> = { token: 'identity' };

const GRANT = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
const AUDIENCE = 'https://oauth2.googleapis.com/token';
const SCOPES = ['https://www.googleapis.com/auth/compute', 'https://www.googleapis.com/auth/cloud-platform'];
export const LIFETIME_SECONDS = 3599;
const MAX_CLAIM_SECONDS = 3600;
const SKEW_SECONDS = 300;
/** A constant key, so that tokens stay valid across restarts of the simulator. */
const TOKEN_KEY = 'simulated-access-token-key';

/** Google's token endpoint: exchanges an assertion signed by a service account's key for an access token. */
export class TokenEndpoint {
  constructor(
    private readonly world: World,
    private readonly issued: IssuedTokens,
  ) {}

  async handle(request: CloudRequest): Promise<CloudAnswer | typeof NO_ANSWER> {
    const entry = this.world.calls.arrive('GCP', 'token');
    const scope = { provider: 'GCP', operation: 'token', effect: 'identity', targets: [] } as const;
    const answer = await applyFault(this.world, request.epoch, scope, {
      perform: () => issue(request, this.issued),
      refuse: (why) => FAULT_ANSWERS[why],
    });
    entry.outcome = typeof answer === 'string' ? answer : answer.outcome;
    return answer;
  }
}

/** Whether a token was issued here, and is neither expired nor revoked. */
export function isValidToken(token: string, issued: IssuedTokens): boolean {
  const [scheme, times = '', seal = ''] = token.split('.');
  const [expiresAt, issuedAt] = times.split('-');
  const expected = Buffer.from(hmac(times));
  const given = Buffer.from(seal);
  if (scheme !== 'ya29' || given.length !== expected.length) return false;
  if (!timingSafeEqual(given, expected) || issued.isRevoked(Number(issuedAt))) return false;
  return Number(expiresAt) > Date.now();
}

/** A new access token. */
export function newToken(issued: IssuedTokens): string {
  const times = `${Date.now() + LIFETIME_SECONDS * 1000}-${issued.stamp()}`;
  return `ya29.${times}.${hmac(times)}`;
}

function issue({ method, body }: CloudRequest, issued: IssuedTokens): CloudAnswer {
  const form = new URLSearchParams(body);
  if (method !== 'POST') return failed('invalid_request', 'Only POST is accepted');
  if (form.get('grant_type') !== GRANT) {
    return failed('unsupported_grant_type', `Invalid grant_type: ${form.get('grant_type') ?? ''}`);
  }
  const error = assertionError(form.get('assertion') ?? '');
  if (error) return error;
  return jsonAnswer(200, 'OK', {
    access_token: newToken(issued),
    expires_in: LIFETIME_SECONDS,
    token_type: 'Bearer',
  });
}

interface Claims {
  readonly iss?: unknown;
  readonly aud?: unknown;
  readonly scope?: unknown;
  readonly iat?: unknown;
  readonly exp?: unknown;
}

/** The answer to an invalid assertion; null when it is valid. */
function assertionError(assertion: string): CloudAnswer | null {
  const [head = '', claimsText = '', signature = ''] = assertion.split('.');
  const header = decode(head) as { alg?: unknown } | null;
  const claims = decode(claimsText) as Claims | null;
  if (!header || !claims || header.alg !== 'RS256') return failed('invalid_request', 'Bad Request');
  if (claims.iss !== CLIENT_EMAIL) {
    return failed('invalid_grant', 'Invalid grant: account not found');
  }
  const text = Buffer.from(`${head}.${claimsText}`);
  if (!verify('RSA-SHA256', text, PUBLIC_KEY, Buffer.from(signature, 'base64url'))) {
    return failed('invalid_grant', 'Invalid JWT Signature.');
  }
  if (claims.aud !== AUDIENCE) return failed('invalid_grant', 'Failed audience check.');
  const { iat, exp } = claims;
  const now = Date.now() / 1000;
  const isTimely =
    typeof iat === 'number' &&
    typeof exp === 'number' &&
    exp - iat <= MAX_CLAIM_SECONDS &&
    iat <= now + SKEW_SECONDS &&
    exp > now;
  if (!isTimely) {
    const description =
      'Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. ' +
      'Check your iat and exp values in the JWT claim.';
    return failed('invalid_grant', description);
  }
  const scopes = typeof claims.scope === 'string' ? claims.scope.split(' ') : [];
  return scopes.some((scope) => SCOPES.includes(scope))
    ? null
    : failed('invalid_scope', 'Invalid OAuth scope or ID token audience provided.');
}

function decode(part: string): unknown {
  try {
    return JSON.parse(Buffer.from(part, 'base64url').toString()) as unknown;
  } catch {
    return null;
  }
}

export const failed = (error: string, description: string, status = 400): CloudAnswer =>
  jsonAnswer(status, error, { error, error_description: description });

/** The endpoint's answers for faults. */
export const FAULT_ANSWERS: Readonly<Record<Refusal, CloudAnswer>> = {
  throttle: failed('rate_limit_exceeded', 'Too many requests', 429),
  error: failed('internal_failure', 'Backend Error', 500),
  refuse: failed('invalid_grant', 'Account has been deleted'),
  'not-found': failed('invalid_grant', 'Invalid grant: account not found'),
  quota: failed('rate_limit_exceeded', 'Too many requests', 429),
  conflict: failed('internal_failure', 'Backend Error', 500),
  invalid: failed('invalid_request', 'Bad Request'),
  unauthenticated: failed('invalid_grant', 'Invalid JWT Signature.'),
};

const hmac = (text: string): string => createHmac('sha256', TOKEN_KEY).update(text).digest('base64url');
