import { getSchemaPath, type OpenAPIObject } from '@nestjs/swagger';
import type { RoutePolicy } from '#guards';
import { errorShapeOf } from '../errors';
import {
  METHODS,
  type DocumentedResponse,
  type Method,
  type Operation,
  type Schemas,
} from './document.types';
import { CodedErrorDto, ErrorDto, ScopeErrorDto } from './error.dto';
import { errorExamples, errorName, pascalCase, scopeExample } from './error-examples';
import { ERROR_DESCRIPTIONS } from './error-descriptions';
import { HEADERS, headersOf } from './headers';
import type { Route } from './route-table';
import { exampleOf, NO_EXAMPLE } from './schema-example';
import { bodyDescription, parameterDescription } from './descriptions';

const JSON_TYPE = 'application/json';

/** Error responses of several operations, by name. */
type SharedErrors = Record<string, DocumentedResponse>;

/** An operation and the properties of its route. */
interface DocumentedOperation {
  readonly operation: Operation;
  readonly method: Method;
  readonly path: string;
  readonly policy: RoutePolicy | undefined;
  readonly counted: boolean;
  /** the scope an API key needs; null: keys are not accepted */
  readonly scope: string | null;
}

/** Adds to every operation what follows from its policy, path and schemas: security, descriptions, errors, examples. */
export function completeOperations(document: OpenAPIObject, routes: readonly Route[]): void {
  const known = new Map(routes.map((route) => [route.operationId, route]));
  document.components = { ...document.components, headers: { ...document.components?.headers, ...HEADERS } };
  const schemas = document.components.schemas ?? {};
  const errors: SharedErrors = {};
  for (const [path, item] of Object.entries(document.paths)) {
    for (const method of METHODS) {
      const operation = item[method];
      if (!operation) continue;
      const route = known.get(operation.operationId ?? '');
      const policy = route?.policy;
      const scope = policy && policy.kind !== 'public' ? policy.scope : null;
      complete({ operation, method, path, policy, counted: route?.counted ?? true, scope }, schemas, errors);
    }
  }
  document.components.responses = errors;
}

function complete(documented: DocumentedOperation, schemas: Schemas, errors: SharedErrors): void {
  const { operation, scope } = documented;
  operation.security = securityOf(documented);
  if (scope !== null) {
    const note = `API keys need the scope \`${scope}\`.`;
    operation.description = operation.description ? `${operation.description}\n\n${note}` : note;
  }
  describeParameters(documented);
  for (const status of commonErrors(documented)) {
    operation.responses[status] ??= { description: ERROR_DESCRIPTIONS[status] ?? 'Refused' };
  }
  completeRequest(operation, schemas);
  for (const [status, response] of Object.entries(operation.responses)) {
    if (!response || '$ref' in response) continue;
    const shared = sharedName(response, Number(status), documented);
    completeResponse(response, Number(status), documented, schemas);
    if (shared === null) continue;
    errors[shared] = response;
    operation.responses[status] = { $ref: `#/components/responses/${shared}` };
  }
}

/** The name of an error response that follows from its status and its route alone; null: another response. */
function sharedName(
  { description, content, headers }: DocumentedResponse,
  status: number,
  { method, path, scope, counted }: DocumentedOperation,
): string | null {
  if (description !== ERROR_DESCRIPTIONS[status] || content || headers) return null;
  const name = errorName(method, path, status);
  const ofScope = status === 403 && scope !== null ? pascalCase(scope) : '';
  return name && `${name}${ofScope}${counted ? '' : 'Uncounted'}`;
}

function securityOf({ policy, scope }: DocumentedOperation): NonNullable<Operation['security']> {
  if (policy?.kind === 'public') return [];
  if (policy?.kind === 'key') return [{ apiKey: [] }, { apiKeyInAuthorization: [] }];
  const ofSession = policy && 'sessionToken' in policy && policy.sessionToken ? [{ sessionToken: [] }] : [];
  const ofKeys = scope === null ? [] : [{ apiKey: [] }, { apiKeyInAuthorization: [] }];
  return [{ bearer: [] }, ...ofKeys, ...ofSession];
}

function describeParameters({ operation, path }: DocumentedOperation): void {
  const parts = path.split('/').filter((part) => part !== '');
  for (const parameter of operation.parameters ?? []) {
    if ('$ref' in parameter || parameter.description) continue;
    const index = parts.indexOf(`{${parameter.name}}`);
    const description = parameterDescription(parameter.name, index < 0 ? [] : parts.slice(0, index));
    if (description !== undefined) parameter.description = description;
  }
}

/** Errors of the layers around every endpoint: body parsing, authentication, rate limit, database. */
function commonErrors({ operation, method, policy }: DocumentedOperation): number[] {
  const readsBody = method === 'post' || method === 'put' || method === 'patch';
  return [
    ...(method !== 'get' || operation.parameters?.length ? [400] : []),
    ...(policy?.kind === 'public' ? [] : [401, 403]),
    ...(readsBody ? [413, 415] : []),
    // one that is not counted refuses an address that guesses credentials, or asks very often
    429,
    500,
    503,
  ];
}

/** A missing body is treated as an empty object, so a body without required fields is optional. */
function completeRequest({ requestBody: body }: Operation, schemas: Schemas): void {
  if (!body || '$ref' in body) return;
  const content = body.content[JSON_TYPE];
  if (!content?.schema) return;
  addExample(content, schemas);
  const named =
    '$ref' in content.schema ? schemas[content.schema.$ref.split('/').at(-1) ?? ''] : content.schema;
  body.required = named !== undefined && 'required' in named && (named.required?.length ?? 0) > 0;
}

function completeResponse(
  response: DocumentedResponse,
  status: number,
  documented: DocumentedOperation,
  schemas: Schemas,
): void {
  const { operation, counted } = documented;
  const paged = (operation.parameters ?? []).some((given) => 'name' in given && given.name === 'page');
  const listed = response.content?.[JSON_TYPE]?.schema;
  const isArray = listed !== undefined && 'type' in listed && listed.type === 'array';
  response.headers = { ...headersOf({ status, counted, paged: paged && isArray }), ...response.headers };
  if (status >= 400 && !response.content)
    response.content = { [JSON_TYPE]: errorContent(status, documented) };
  const content = response.content?.[JSON_TYPE];
  if (content && !content.examples) addExample(content, schemas);
  if (response.description === '') response.description = successDescription(status, content?.schema);
}

type MediaType = NonNullable<DocumentedResponse['content']>[string];

function errorContent(status: number, { method, path, scope }: DocumentedOperation): MediaType {
  const own = { $ref: getSchemaPath(errorShapeOf(path) === 'generic' ? ErrorDto : CodedErrorDto) };
  const examples = errorExamples(method, path, status);
  if (status !== 403 || scope === null) return { schema: own, examples };
  return {
    // anyOf, not oneOf: the generic body matches both schemas
    schema: { anyOf: [own, { $ref: getSchemaPath(ScopeErrorDto) }] },
    examples: { ...examples, scope: scopeExample(scope) },
  };
}

function addExample(content: MediaType, schemas: Schemas): void {
  if (content.example !== undefined || !content.schema) return;
  const example = exampleOf(content.schema, schemas);
  if (example !== NO_EXAMPLE) content.example = example;
}

function successDescription(status: number, schema: MediaType['schema']): string {
  if (!schema) return 'Done; there is no body';
  const isList = 'type' in schema && schema.type === 'array';
  const body = isList ? schema.items : schema;
  return body && '$ref' in body ? bodyDescription(body.$ref.split('/').at(-1) ?? '', status, isList) : 'Done';
}
