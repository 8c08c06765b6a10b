import { applyFault, type Refusal } from '../faults/apply-fault';
import type { IssuedTokens } from '../issued-tokens';
import { NO_ANSWER, type CloudAnswer, type CloudRequest, type World } from '../provider';
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
      perform: () => issue(request, tenant, this.issued.stamp()),
      refuse: (why) => refusal(FAULT_ERRORS[why]),
    });
    entry.outcome = answer === NO_ANSWER ? NO_ANSWER : answer.outcome;
    return answer;
  }
}

function issue({ body, method }: CloudRequest, tenant: string, stamp: number): CloudAnswer {
  const form = new URLSearchParams(body);
  if (method !== 'POST' || form.get('grant_type') !== 'client_credentials') return refusal(WRONG_GRANT);
  if (tenant !== TENANT_ID && tenant !== TENANT_DOMAIN) return refusal(UNKNOWN_TENANT);
  if (form.get('client_id') !== CLIENT_ID) return refusal(UNKNOWN_CLIENT);
  if (form.get('client_secret') !== CLIENT_SECRET) return refusal(WRONG_SECRET);
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
