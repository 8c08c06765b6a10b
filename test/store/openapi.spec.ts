import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020';
import addFormats from 'ajv-formats';
import type { Resource } from '#client';

const ROOT = resolve(__dirname, '../..');
/** Each schema is compiled by itself, and not made fast: it is used a few times only. */
const ONCE = { inlineRefs: false, code: { optimize: false } };
const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

type Schema = Record<string, unknown> & { properties?: Record<string, Schema> };

interface Content {
  readonly schema: Schema;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
}

interface Response {
  readonly description: string;
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly content?: Readonly<Record<string, Content>>;
}

interface Operation<Responded = Response> {
  readonly operationId: string;
  readonly summary?: string;
  readonly tags?: readonly string[];
  readonly parameters?: readonly {
    readonly name: string;
    readonly description?: string;
    readonly schema: Schema;
  }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Content>> };
  readonly responses: Readonly<Record<string, Responded>>;
  readonly security: readonly Record<string, unknown>[];
}

interface OpenApi {
  readonly openapi: string;
  readonly tags: readonly { readonly name: string; readonly description?: string }[];
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, Operation<Response | { readonly $ref: string }>>>>
  >;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly responses: Readonly<Record<string, Response>>;
  };
}

/** `test/e2e/contract/9-versioning` compares it with what is served. */
const document = JSON.parse(readFileSync(resolve(ROOT, 'openapi.json'), 'utf8')) as OpenApi;

const SHARED = '#/components/responses/';
const resolved = (response: Response | { readonly $ref: string }): Response =>
  '$ref' in response ? document.components.responses[response.$ref.replace(SHARED, '')]! : response;

const operations = Object.entries(document.paths).flatMap(([path, item]) =>
  METHODS.flatMap((method) => {
    const written = item[method];
    if (!written) return [];
    const responses: Record<string, Response> = {};
    for (const [status, one] of Object.entries(written.responses)) responses[status] = resolved(one);
    const operation: Operation = { ...written, responses };
    return [{ name: `${method.toUpperCase()} ${path}`, path, method, operation }];
  }),
);

const jsonOf = (
  name: string,
  { content = {} }: Pick<Response, 'content'>,
): { name: string; media: Content }[] =>
  Object.entries(content)
    .filter(([type]) => type === 'application/json')
    .map(([, media]) => ({ name, media }));

/** Every body an operation takes or gives, with its examples. */
const bodies = operations.flatMap(({ name, operation }) => [
  ...jsonOf(`${name} takes`, operation.requestBody ?? {}),
  ...Object.entries(operation.responses).flatMap(([status, response]) =>
    jsonOf(`${name} gives ${status}`, response),
  ),
]);

describe('The OpenAPI document', () => {
  it('has schemas that are valid JSON Schema 2020-12, with nothing unknown in them', () => {
    const ajv = new Ajv2020({ ...ONCE, strict: true, strictTypes: false, strictRequired: false });
    addFormats(ajv);
    ajv.addVocabulary(['example', 'components', 'x-known-values']);
    ajv.addSchema({ $id: 'api', components: document.components });
    const wrong = Object.keys(document.components.schemas).flatMap((name) => {
      try {
        ajv.compile({ $ref: `api#/components/schemas/${name}` });
        return [];
      } catch (error) {
        return [`${name}: ${String(error)}`];
      }
    });
    expect(wrong).toEqual([]);
  });

  it('lets a client that is generated today read a provider that comes later', () => {
    const named = Object.entries(document.components.schemas).flatMap(([name, { properties }]) =>
      properties?.['provider'] ? [[name, Object.keys(properties['provider'])] as const] : [],
    );
    expect(named.map(([name]) => name)).toContain('ResourceDto');
    for (const [name, words] of named)
      expect([name, words]).toEqual([name, expect.not.arrayContaining(['enum'])]);
    // what is generated from it is compiled with this
    const later: Resource['provider'] = 'LATER';
    expect(later).toBe('LATER');
  });

  it('declares each path parameter, and no operation twice', () => {
    const wrong = operations.filter(({ path, operation }) => {
      const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      const declared = new Set(operation.parameters?.map(({ name }) => name));
      return inPath.some((name) => !declared.has(name!));
    });
    expect(wrong.map(({ name }) => name)).toEqual([]);
    const ids = operations.map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('says of each operation what it does, under a chapter that is described (apps/api/src/docs/tags.ts)', () => {
    const silent = operations.filter(({ operation }) => !operation.summary || operation.tags?.length !== 1);
    expect(silent.map(({ name }) => name)).toEqual([]);
    expect(document.tags.filter(({ description }) => !description).map(({ name }) => name)).toEqual([]);
  });

  it('describes every parameter (apps/api/src/docs/descriptions.ts)', () => {
    const silent = operations.flatMap(({ name, operation }) =>
      (operation.parameters ?? [])
        .filter(({ description }) => !description)
        .map((parameter) => `${name}: ${parameter.name}`),
    );
    expect(silent).toEqual([]);
  });

  it('says of each answer what it is', () => {
    const silent = operations.flatMap(({ name, operation }) =>
      Object.entries(operation.responses)
        .filter(([, { description }]) => /^(|Done|Refused)$/.test(description))
        .map(([status]) => `${name} ${status}`),
    );
    expect(silent).toEqual([]);
  });

  it('has an example of every JSON body, and each fits its schema', () => {
    const ajv = new Ajv2020({ ...ONCE, strict: false, allErrors: true });
    addFormats(ajv);
    ajv.addSchema({ $id: 'api', components: document.components });
    // hundreds of bodies have the same schema
    const compiled = new Map<string, ValidateFunction>();
    const wrong = bodies.flatMap(({ name, media }) => {
      const given = [media.example, ...Object.values(media.examples ?? {}).map(({ value }) => value)];
      const examples = given.filter((example) => example !== undefined);
      if (examples.length === 0) return [`${name}: no example`];
      const schema = JSON.stringify(media.schema).replaceAll('"#/', '"api#/');
      const validate = compiled.get(schema) ?? ajv.compile(JSON.parse(schema) as Schema);
      compiled.set(schema, validate);
      return examples
        .filter((example) => !validate(example))
        .map(() => `${name}: ${ajv.errorsText(validate.errors)}`);
    });
    expect(wrong).toEqual([]);
  });

  it('has an example for each field whose name and type do not explain it (`example` in its DTO)', () => {
    const dull = Object.entries(document.components.schemas).flatMap(([name, schema]) =>
      Object.entries(schema.properties ?? {})
        .filter(([, field]) => !speaksForItself(field))
        .map(([field]) => `${name}.${field}`),
    );
    expect(dull).toEqual([]);
  });

  it('documents the headers of lists, limits and refusals', () => {
    const headersOf = (path: string, method: string, status: number): string[] => {
      const { operation } = operations.find((one) => one.path === `/api/v1${path}` && one.method === method)!;
      return Object.keys(operation.responses[status]?.headers ?? {});
    };
    expect(headersOf('/sessions', 'get', 200)).toEqual(
      expect.arrayContaining([
        'X-Total-Count',
        'Link',
        'X-RateLimit-Limit',
        'X-RateLimit-Remaining',
        'X-RateLimit-Reset',
      ]),
    );
    expect(headersOf('/sessions', 'post', 429)).toContain('Retry-After');
    expect(headersOf('/sessions', 'post', 401)).toContain('WWW-Authenticate');
    expect(headersOf('/health', 'get', 200)).toEqual(['X-Request-Id']);
  });

  it('lists both authentication methods where keys are accepted, bearer elsewhere, none on public routes', () => {
    const security = (path: string, method: string): string[] | undefined =>
      document.paths[`/api/v1${path}`]?.[method]?.security.flatMap((one) => Object.keys(one));
    expect(security('/sessions', 'post')).toEqual(['bearer', 'apiKey', 'apiKeyInAuthorization']);
    expect(security('/roles', 'get')).toEqual(['bearer']);
    expect(security('/health', 'get')).toEqual([]);
  });
});

/** A text or a number that nothing limits needs an example, unless it may be null. */
function speaksForItself(field: Schema): boolean {
  const known = ['example', 'enum', 'format', '$ref', 'allOf', 'anyOf', 'oneOf', 'default', 'minimum'];
  if (known.some((key) => key in field)) return true;
  const types = [field['type']].flat();
  if (types.includes('array')) return speaksForItself((field['items'] ?? {}) as Schema);
  return types.includes('boolean') || types.includes('null');
}
