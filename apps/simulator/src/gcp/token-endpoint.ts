import { verify } from 'node:crypto';
import type { CloudError } from '../cloud-error';
import { serveCall, type Refusal } from '../faults/serve-call';
import type { CallEffect } from '../faults/fault-script';
import type { CloudAnswer, CloudRequest, NO_ANSWER, World } from '../provider';
import { readJson } from '../read-json';
import type { SealedTokens } from '../sealed-tokens';
import { jsonAnswer, oauthError, renderOauth } from './gcp-error';
import { CLIENT_EMAIL, PUBLIC_KEY } from './service-account';

export const TOKEN_EFFECTS: Readonly<Record<string, CallEffect>> = { token: 'identity' };

const GRANT = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
const AUDIENCE = 'https://oauth2.googleapis.com/token';
const SCOPES = ['https://www.googleapis.com/auth/compute', 'https://www.googleapis.com/auth/cloud-platform'];
export const LIFETIME_SECONDS = 3599;
const MAX_CLAIM_SECONDS = 3600;
const SKEW_SECONDS = 300;

/** Access tokens say nothing: the project has one account. */
export type AccessTokens = SealedTokens<object>;

const PREFIX = 'ya29.';

/** Whether a request has a token that was issued here, and is neither expired nor revoked. */
export function isAuthenticated({ headers }: CloudRequest, tokens: AccessTokens): boolean {
  const [, token] = /^Bearer ya29\.(\S+)$/.exec(headers.authorization ?? '') ?? [];
  return token !== undefined && tokens.read(token)?.isExpired === false;
}

export const newToken = (tokens: AccessTokens): string =>
  `${PREFIX}${tokens.issue({}, Date.now() + LIFETIME_SECONDS * 1000)}`;

/** Google's token endpoint: exchanges an assertion signed by a service account's key for an access token. */
export class TokenEndpoint {
  constructor(
    private readonly world: World,
    private readonly tokens: AccessTokens,
  ) {}

  async handle(request: CloudRequest): Promise<CloudAnswer | typeof NO_ANSWER> {
    const call = { provider: 'GCP', operation: 'token', effect: 'identity', targets: [] } as const;
    return serveCall(this.world, request.epoch, call, {
      perform: () => this.issue(request),
      refuse: (why) => FAULT_ERRORS[why](),
      render: renderOauth,
    });
  }

  private issue({ method, body }: CloudRequest): CloudAnswer {
    const form = new URLSearchParams(body);
    if (method !== 'POST') throw oauthError('invalid_request', 'Only POST is accepted');
    if (form.get('grant_type') !== GRANT)
      throw oauthError('unsupported_grant_type', `Invalid grant_type: ${form.get('grant_type') ?? ''}`);
    checkAssertion(form.get('assertion') ?? '');
    const access_token = newToken(this.tokens);
    return jsonAnswer(200, 'OK', { access_token, expires_in: LIFETIME_SECONDS, token_type: 'Bearer' });
  }
}

interface Claims {
  readonly iss?: unknown;
  readonly aud?: unknown;
  readonly scope?: unknown;
  readonly iat?: unknown;
  readonly exp?: unknown;
}

/** @throws CloudError when an assertion is invalid */
function checkAssertion(assertion: string): void {
  const [head = '', claimsText = '', signature = ''] = assertion.split('.');
  const header = decode(head) as { alg?: unknown } | null | undefined;
  const claims = decode(claimsText) as Claims | null | undefined;
  if (!header || !claims || header.alg !== 'RS256') throw oauthError('invalid_request', 'Bad Request');
  if (claims.iss !== CLIENT_EMAIL) throw oauthError('invalid_grant', 'Invalid grant: account not found');
  const text = Buffer.from(`${head}.${claimsText}`);
  if (!verify('RSA-SHA256', text, PUBLIC_KEY, Buffer.from(signature, 'base64url')))
    throw oauthError('invalid_grant', 'Invalid JWT Signature.');
  if (claims.aud !== AUDIENCE) throw oauthError('invalid_grant', 'Failed audience check.');
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
    throw oauthError('invalid_grant', description);
  }
  const scopes = typeof claims.scope === 'string' ? claims.scope.split(' ') : [];
  if (!scopes.some((scope) => SCOPES.includes(scope)))
    throw oauthError('invalid_scope', 'Invalid OAuth scope or ID token audience provided.');
}

const decode = (part: string): unknown => readJson(Buffer.from(part, 'base64url').toString());

const tooMany = (): CloudError => oauthError('rate_limit_exceeded', 'Too many requests', 429);
const backend = (): CloudError => oauthError('internal_failure', 'Backend Error', 500);

export const FAULT_ERRORS: Readonly<Record<Refusal, () => CloudError>> = {
  throttle: tooMany,
  error: backend,
  refuse: () => oauthError('invalid_grant', 'Account has been deleted'),
  'not-found': () => oauthError('invalid_grant', 'Invalid grant: account not found'),
  quota: tooMany,
  conflict: backend,
  invalid: () => oauthError('invalid_request', 'Bad Request'),
  unauthenticated: () => oauthError('invalid_grant', 'Invalid JWT Signature.'),
};
