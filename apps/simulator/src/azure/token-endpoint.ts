import { CloudError } from '../cloud-error';
import { serveCall, type Refusal } from '../faults/serve-call';
import type { CloudAnswer, CloudRequest, NO_ANSWER, World } from '../provider';
import { tokenProblem, type TokenProblem } from '../web-identity/verify-token';
import { jsonAnswer } from './json-answer';
import {
  CLIENT_ID,
  CLIENT_SECRET,
  TENANT_DOMAIN,
  TENANT_ID,
  TOKEN_SECONDS,
  type AccessTokens,
} from './principal';

export const TOKEN_OPERATION = 'RequestToken';

/** @param number of the error, `AADSTS…` */
const oauthError = (status: number, error: string, number: number, description: string) => (): CloudError =>
  new CloudError(
    status,
    error,
    `AADSTS${number}: ${description}\r\nTrace ID: 00000000-0000-4000-8000-00000000000f`,
    { error_codes: [number] },
    status === 429 ? { 'retry-after': '1' } : {},
  );

const UNKNOWN_TENANT = oauthError(
  400,
  'invalid_request',
  90002,
  'Tenant not found. Check to make sure you have the correct tenant ID.',
);
const UNKNOWN_CLIENT = oauthError(
  400,
  'unauthorized_client',
  700016,
  'Application with that identifier was not found in the directory.',
);
const WRONG_SECRET = oauthError(401, 'invalid_client', 7000215, 'Invalid client secret provided.');
const WRONG_GRANT = oauthError(
  400,
  'unsupported_grant_type',
  70003,
  'The grant type is not supported over this endpoint.',
);
const WRONG_SCOPE = oauthError(
  400,
  'invalid_scope',
  70011,
  'The provided value for the input parameter scope is not valid.',
);

const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
const assertionError = (number: number, description: string): (() => CloudError) =>
  oauthError(401, 'invalid_client', number, description);
const unknownIdentity = (number: number, claim: string): (() => CloudError) =>
  oauthError(
    400,
    'invalid_client',
    number,
    `No matching federated identity record found for the presented ${claim}.`,
  );

const ASSERTION_PROBLEMS: Readonly<Record<TokenProblem, () => CloudError>> = {
  malformed: assertionError(50027, 'JWT token is invalid or malformed.'),
  'unknown-issuer': unknownIdentity(700211, 'assertion issuer'),
  unreachable: assertionError(50166, 'Request to External OIDC endpoint failed.'),
  'wrong-issuer': assertionError(50166, 'Request to External OIDC endpoint failed.'),
  algorithm: assertionError(5002738, 'Invalid JWT token. The algorithm is not supported.'),
  key: assertionError(700027, 'The key was not found.'),
  signature: assertionError(700027, 'Client assertion failed signature validation.'),
  audience: unknownIdentity(700212, 'assertion audience'),
  expired: assertionError(700024, 'Client assertion is not within its valid time range.'),
  'not-yet': assertionError(700024, 'Client assertion is not within its valid time range.'),
  claims: assertionError(50027, 'JWT token is invalid or malformed.'),
  subject: unknownIdentity(700213, 'assertion subject'),
};

const FAULT_ERRORS: Readonly<Record<Refusal, () => CloudError>> = {
  throttle: oauthError(429, 'temporarily_unavailable', 90055, 'The request was throttled.'),
  error: oauthError(503, 'temporarily_unavailable', 90033, 'The service is unavailable.'),
  refuse: WRONG_SECRET,
  'not-found': UNKNOWN_TENANT,
  quota: WRONG_GRANT,
  conflict: WRONG_GRANT,
  invalid: WRONG_SCOPE,
  unauthenticated: WRONG_SECRET,
};

/** The token endpoint, `/{tenant}/oauth2/v2.0/token`: client credentials only. */
export class TokenEndpoint {
  constructor(
    private readonly world: World,
    private readonly tokens: AccessTokens,
  ) {}

  async handle(request: CloudRequest, tenant: string): Promise<CloudAnswer | typeof NO_ANSWER> {
    const call = { provider: 'AZURE', operation: TOKEN_OPERATION, effect: 'identity', targets: [] } as const;
    return serveCall(this.world, request.epoch, call, {
      perform: () => this.issue(request, tenant),
      refuse: (why) => FAULT_ERRORS[why](),
      render: ({ status, code, message, more, headers }) =>
        jsonAnswer(status, { error: code, error_description: message, ...more }, headers, code),
    });
  }

  private async issue({ body, method }: CloudRequest, tenant: string): Promise<CloudAnswer> {
    const form = new URLSearchParams(body);
    if (method !== 'POST' || form.get('grant_type') !== 'client_credentials') throw WRONG_GRANT();
    if (tenant !== TENANT_ID && tenant !== TENANT_DOMAIN) throw UNKNOWN_TENANT();
    if (form.get('client_id') !== CLIENT_ID) throw UNKNOWN_CLIENT();
    await this.checkProof(form);
    const [, audience] = /^(\S+)\/\.default$/.exec(form.get('scope') ?? '') ?? [];
    if (!audience) throw WRONG_SCOPE();
    const access_token = this.tokens.issue({ audience }, Date.now() + TOKEN_SECONDS * 1000);
    const life = { expires_in: TOKEN_SECONDS, ext_expires_in: TOKEN_SECONDS };
    return jsonAnswer(200, { token_type: 'Bearer', ...life, access_token });
  }

  /** The secret, or the assertion that stands for it. @throws CloudError */
  private async checkProof(form: URLSearchParams): Promise<void> {
    const assertion = form.get('client_assertion');
    if (assertion === null) {
      if (form.get('client_secret') !== CLIENT_SECRET) throw WRONG_SECRET();
      return;
    }
    if (form.get('client_assertion_type') !== ASSERTION_TYPE) throw ASSERTION_PROBLEMS.malformed();
    const problem = await tokenProblem(assertion, 'AZURE', this.world.trusts);
    if (problem) throw ASSERTION_PROBLEMS[problem]();
  }
}
