import { applyFault, type Refusal } from '../faults/apply-fault';
import type { IssuedTokens } from '../issued-tokens';
import { NO_ANSWER, type CloudAnswer, type CloudRequest, type World } from '../provider';
import { tokenProblem, type TokenProblem } from '../web-identity/verify-token';
import { jsonAnswer } from './json-answer';
import { CLIENT_ID, CLIENT_SECRET, issueToken, TENANT_DOMAIN, TENANT_ID, TOKEN_SECONDS } from './principal';

export const TOKEN_OPERATION = 'RequestToken';

interface OAuthError {
  readonly status: number;
  readonly error: string;
  readonly description: string;
  readonly number: number;
}

const UNKNOWN_TENANT: OAuthError = {
  status: 400,
  error: 'invalid_request',
  description: 'Tenant not found. Check to make sure you have the correct tenant ID.',
  number: 90002,
};
const UNKNOWN_CLIENT: OAuthError = {
  status: 400,
  error: 'unauthorized_client',
  description: 'Application with that identifier was not found in the directory.',
  number: 700016,
};
const WRONG_SECRET: OAuthError = {
  status: 401,
  error: 'invalid_client',
  description: 'Invalid client secret provided.',
  number: 7000215,
};
const WRONG_GRANT: OAuthError = {
  status: 400,
  error: 'unsupported_grant_type',
  description: 'The grant type is not supported over this endpoint.',
  number: 70003,
};
const WRONG_SCOPE: OAuthError = {
  status: 400,
  error: 'invalid_scope',
  description: 'The provided value for the input parameter scope is not valid.',
  number: 70011,
};

const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
const assertionError = (number: number, description: string): OAuthError => ({
  status: 401,
  error: 'invalid_client',
  number,
  description,
});
const unknownIdentity = (number: number, claim: string): OAuthError => ({
  ...assertionError(number, `No matching federated identity record found for the presented ${claim}.`),
  status: 400,
});

const ASSERTION_PROBLEMS: Readonly<Record<TokenProblem, OAuthError>> = {
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

const FAULT_ERRORS: Readonly<Record<Refusal, OAuthError>> = {
  throttle: {
    status: 429,
    error: 'temporarily_unavailable',
    description: 'The request was throttled.',
    number: 90055,
  },
  error: {
    status: 503,
    error: 'temporarily_unavailable',
    description: 'The service is unavailable.',
    number: 90033,
  },
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
    private readonly issued: IssuedTokens,
  ) {}

  async handle(request: CloudRequest, tenant: string): Promise<CloudAnswer | typeof NO_ANSWER> {
    const entry = this.world.calls.arrive('AZURE', TOKEN_OPERATION);
    const scope = { provider: 'AZURE', operation: TOKEN_OPERATION, effect: 'identity', targets: [] } as const;
    const answer = await applyFault(this.world, request.epoch, scope, {
      perform: () => this.issue(request, tenant),
      refuse: (why) => refusal(FAULT_ERRORS[why]),
    });
    entry.outcome = answer === NO_ANSWER ? NO_ANSWER : answer.outcome;
    return answer;
  }

  private async issue({ body, method }: CloudRequest, tenant: string): Promise<CloudAnswer> {
    const form = new URLSearchParams(body);
    if (method !== 'POST' || form.get('grant_type') !== 'client_credentials') return refusal(WRONG_GRANT);
    if (tenant !== TENANT_ID && tenant !== TENANT_DOMAIN) return refusal(UNKNOWN_TENANT);
    if (form.get('client_id') !== CLIENT_ID) return refusal(UNKNOWN_CLIENT);
    const problem = await this.problemOf(form);
    return problem ? refusal(problem) : issue(form, this.issued.stamp());
  }

  /** Of the secret, or of the assertion that stands for it. */
  private async problemOf(form: URLSearchParams): Promise<OAuthError | null> {
    const assertion = form.get('client_assertion');
    if (assertion === null) return form.get('client_secret') === CLIENT_SECRET ? null : WRONG_SECRET;
    if (form.get('client_assertion_type') !== ASSERTION_TYPE) return ASSERTION_PROBLEMS.malformed;
    const problem = await tokenProblem(assertion, 'AZURE', this.world.trusts);
    return problem && ASSERTION_PROBLEMS[problem];
  }
}

function issue(form: URLSearchParams, stamp: number): CloudAnswer {
  const [, audience] = /^(\S+)\/\.default$/.exec(form.get('scope') ?? '') ?? [];
  if (!audience) return refusal(WRONG_SCOPE);
  const token = issueToken(audience, Date.now(), stamp);
  const life = { expires_in: TOKEN_SECONDS, ext_expires_in: TOKEN_SECONDS };
  return jsonAnswer(200, { token_type: 'Bearer', ...life, access_token: token }, 'OK');
}

const refusal = ({ status, error, description, number }: OAuthError): CloudAnswer =>
  jsonAnswer(
    status,
    {
      error,
      error_description: `AADSTS${number}: ${description}\r\nTrace ID: 00000000-0000-4000-8000-00000000000f`,
      error_codes: [number],
    },
    error,
    status === 429 ? { 'retry-after': '1' } : {},
  );
