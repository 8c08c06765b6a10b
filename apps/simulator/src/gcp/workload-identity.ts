import { CloudError } from '../cloud-error';
import type { CallEffect } from '../faults/fault-script';
import { serveCall } from '../faults/serve-call';
import type { CloudAnswer, CloudRequest, NO_ANSWER, World } from '../provider';
import { WORKLOAD_PROVIDER } from '../web-identity/trusts';
import { tokenProblem, type TokenProblem } from '../web-identity/verify-token';
import { jsonAnswer, oauthError, renderOauth } from './gcp-error';
import { CLIENT_EMAIL } from './service-account';
import {
  FAULT_ERRORS,
  isAuthenticated,
  LIFETIME_SECONDS,
  newToken,
  type AccessTokens,
} from './token-endpoint';

const EXCHANGE = 'exchangeToken';
const IMPERSONATE = 'generateAccessToken';
export const WORKLOAD_EFFECTS: Readonly<Record<string, CallEffect>> = {
  [EXCHANGE]: 'identity',
  [IMPERSONATE]: 'identity',
};

const GRANT = 'urn:ietf:params:oauth:grant-type:token-exchange';
const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token';
const JWT = 'urn:ietf:params:oauth:token-type:jwt';
const AUDIENCE = `//iam.googleapis.com/${WORKLOAD_PROVIDER}`;
const EXCHANGE_PATH = '/gcp/sts/v1/token';
const IMPERSONATION =
  /^\/gcp\/iamcredentials\/v1\/projects\/-\/serviceAccounts\/([^/]+):generateAccessToken$/;

const invalidGrant = (description: string) => (): CloudError => oauthError('invalid_grant', description);

const REFUSALS: Readonly<Record<TokenProblem, () => CloudError>> = {
  malformed: () => oauthError('invalid_request', 'Invalid value for "subject_token". It is not a JWT.'),
  'unknown-issuer': invalidGrant('The issuer in ID Token does not match the expected ones.'),
  unreachable: invalidGrant("Error connecting to the given credential's issuer."),
  'wrong-issuer': invalidGrant('The issuer of the configuration does not match.'),
  algorithm: invalidGrant('The algorithm of the ID Token is not supported.'),
  key: invalidGrant('The key of the ID Token is not known.'),
  signature: invalidGrant('Invalid signature of the ID Token.'),
  audience: invalidGrant('The audience in ID Token does not match the expected audience.'),
  expired: invalidGrant('ID Token issued is stale to sign-in.'),
  'not-yet': invalidGrant('ID Token is not valid yet.'),
  claims: invalidGrant('A claim of the ID Token is missing or not valid.'),
  subject: () =>
    oauthError('unauthorized_client', 'The given credential is rejected by the attribute condition.', 401),
};

/** Google's STS, which exchanges tokens of issuers that the project trusts, and the impersonation of a service account. */
export class WorkloadIdentity {
  constructor(
    private readonly world: World,
    private readonly tokens: AccessTokens,
  ) {}

  /** Whether a request is for it. */
  static serves = ({ path }: CloudRequest): boolean => path === EXCHANGE_PATH || IMPERSONATION.test(path);

  async handle(request: CloudRequest): Promise<CloudAnswer | typeof NO_ANSWER> {
    const operation = request.path === EXCHANGE_PATH ? EXCHANGE : IMPERSONATE;
    const call = { provider: 'GCP', operation, effect: 'identity', targets: [] } as const;
    return serveCall(this.world, request.epoch, call, {
      perform: () => (operation === EXCHANGE ? this.exchange(request) : this.impersonate(request)),
      refuse: (why) => FAULT_ERRORS[why](),
      render: renderOauth,
    });
  }

  private async exchange({ method, body }: CloudRequest): Promise<CloudAnswer> {
    const form = new URLSearchParams(body);
    if (method !== 'POST') throw oauthError('invalid_request', 'Only POST is accepted');
    if (form.get('grant_type') !== GRANT)
      throw oauthError('unsupported_grant_type', 'Invalid value for "grant_type".');
    if (form.get('requested_token_type') !== ACCESS_TOKEN || form.get('subject_token_type') !== JWT)
      throw oauthError(
        'invalid_request',
        'Invalid value for "requested_token_type" or "subject_token_type".',
      );
    if (form.get('audience') !== AUDIENCE)
      throw oauthError(
        'invalid_target',
        'The target service indicated by the "audience" parameters is invalid.',
      );
    const problem = await tokenProblem(form.get('subject_token') ?? '', 'GCP', this.world.trusts);
    if (problem !== null) throw REFUSALS[problem]();
    return jsonAnswer(200, 'OK', {
      access_token: newToken(this.tokens),
      issued_token_type: ACCESS_TOKEN,
      token_type: 'Bearer',
      expires_in: LIFETIME_SECONDS,
    });
  }

  private impersonate(request: CloudRequest): CloudAnswer {
    if (!isAuthenticated(request, this.tokens))
      throw iamError(401, 'UNAUTHENTICATED', 'Invalid credentials.');
    const email = decodeURIComponent(IMPERSONATION.exec(request.path)![1]!);
    if (email !== CLIENT_EMAIL) {
      const message =
        "Permission 'iam.serviceAccounts.getAccessToken' denied on resource (or it may not exist).";
      throw iamError(403, 'PERMISSION_DENIED', message);
    }
    return jsonAnswer(200, 'OK', {
      accessToken: newToken(this.tokens),
      expireTime: new Date(Date.now() + LIFETIME_SECONDS * 1000).toISOString(),
    });
  }
}

const iamError = (status: number, reason: string, message: string): CloudError =>
  new CloudError(status, reason, message, { error: { code: status, message, status: reason } });
