import { getSchemaPath, type OpenAPIObject } from '@nestjs/swagger';
import type { RoutePolicy } from '#guards';
import { errorShapeOf } from '../errors';
import { CodedErrorDto, ErrorDto, ScopeErrorDto } from './error.dto';
import { ERROR_WORDS } from './error-words';
import type { Route } from './route-table';

type PathItem = OpenAPIObject['paths'][string];
type Operation = NonNullable<PathItem['get']>;
type Responses = Operation['responses'];
type DocumentedResponse = NonNullable<Responses[string]>;

const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;

const LIMIT_HEADERS = {
  'X-RateLimit-Limit': {
    description: 'requests an address may send in a window',
    schema: { type: 'integer' },
  },
  'X-RateLimit-Remaining': { description: 'requests left in this window', schema: { type: 'integer' } },
  'X-RateLimit-Reset': { description: 'seconds until the window ends', schema: { type: 'integer' } },
};
const RETRY_HEADER = {
  'Retry-After': { description: 'seconds to wait before trying again', schema: { type: 'integer' } },
};

/** Writes into every operation what follows from its policy and its path: security, the common errors, their bodies. */
export function completeOperations(document: OpenAPIObject, routes: readonly Route[]): void {
  const policies = new Map(routes.map((route) => [route.operationId, route.policy]));
  for (const [path, item] of Object.entries(document.paths)) {
    for (const method of METHODS) {
      const operation = item[method];
      if (operation) complete(operation, path, policies.get(operation.operationId ?? ''));
    }
  }
}

function complete(operation: Operation, path: string, policy: RoutePolicy | undefined): void {
  const scope = policy && policy.kind !== 'public' ? policy.scope : null;
  operation.security = securityOf(policy, scope !== null);
  if (scope !== null) {
    const note = `API keys need the scope \`${scope}\`.`;
    operation.description = operation.description ? `${operation.description}\n\n${note}` : note;
  }
  const counted = !/\/(health|billing\/webhooks)/.test(path);
  for (const status of commonErrors(operation, policy, counted)) {
    operation.responses[status] ??= { description: ERROR_WORDS[status] ?? 'Refused' };
  }
  for (const [status, response] of Object.entries(operation.responses)) {
    if (response && !('$ref' in response))
      completeResponse(response, Number(status), path, scope !== null, counted);
  }
}

function securityOf(policy: RoutePolicy | undefined, takesKeys: boolean): NonNullable<Operation['security']> {
  if (policy?.kind === 'public') return [];
  return takesKeys ? [{ bearer: [] }, { apiKey: [] }] : [{ bearer: [] }];
}

function commonErrors(operation: Operation, policy: RoutePolicy | undefined, counted: boolean): number[] {
  const guarded = policy?.kind !== 'public';
  const limited = guarded && (policy?.kind === 'admin' || (policy?.scope ?? null) !== null);
  return [
    ...(operation.requestBody || operation.parameters?.length ? [400] : []),
    ...(guarded ? [401] : []),
    ...(limited ? [403] : []),
    ...(operation.requestBody ? [413, 415] : []),
    ...(counted ? [429, 500, 503] : []),
  ];
}

function completeResponse(
  response: Exclude<DocumentedResponse, { $ref: string }>,
  status: number,
  path: string,
  takesKeys: boolean,
  counted: boolean,
): void {
  const waits = status === 429 || status === 503 ? RETRY_HEADER : {};
  if (counted) response.headers = { ...response.headers, ...LIMIT_HEADERS, ...waits };
  if (status < 400 || response.content) return;
  const body = errorShapeOf(path) === 'generic' ? ErrorDto : CodedErrorDto;
  const own = { $ref: getSchemaPath(body) };
  const scopeless = { $ref: getSchemaPath(ScopeErrorDto) };
  const schema = status === 403 && takesKeys ? { oneOf: [own, scopeless] } : own;
  response.content = { 'application/json': { schema } };
}
