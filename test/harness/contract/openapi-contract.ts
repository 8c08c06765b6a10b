import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020';
import addFormats from 'ajv-formats';

type Schema = Record<string, unknown>;

interface DocumentedAnswer {
  readonly $ref?: string;
  readonly content?: Readonly<Record<string, { readonly schema: Schema }>>;
}

interface Operation {
  readonly responses: Readonly<Record<string, DocumentedAnswer>>;
}

type PathItem = Readonly<Record<string, Operation | undefined>>;

interface OpenApiDocument {
  readonly paths: Readonly<Record<string, PathItem>>;
  readonly components: {
    readonly schemas: Record<string, Schema>;
    readonly responses?: Readonly<Record<string, DocumentedAnswer>>;
  };
}

/** One request with its response. */
export interface Exchange {
  readonly method: string;
  /** the whole path, with or without its query */
  readonly path: string;
  readonly status: number;
  readonly contentType: string | null;
  readonly text: string;
}

const ERROR_SCHEMAS = ['ErrorDto', 'CodedErrorDto', 'ScopeErrorDto'];
const DOCUMENT_PATH = /\/openapi\.json$/;
const SHOWN_CHARACTERS = 2000;

/** Checks responses against the published OpenAPI document. */
export class OpenApiContract {
  /** Each schema is compiled once, as it is: most are checked a few times only. */
  private readonly ajv = new Ajv2020({
    strict: false,
    allErrors: true,
    logger: false,
    inlineRefs: false,
    code: { optimize: false },
  });
  private readonly templates: readonly { readonly template: string; readonly pattern: RegExp }[];
  private readonly compiled = new Map<string, ValidateFunction>();

  private readonly document: OpenApiDocument;

  /** @param text the document */
  constructor(text: string) {
    const document = JSON.parse(text) as OpenApiDocument;
    this.document = document;
    addFormats(this.ajv);
    this.ajv.addSchema({ $id: 'api', components: closed(document.components) as object });
    this.templates = Object.keys(document.paths)
      // a route without parameters wins over one with: /sessions/admin over /sessions/{id}
      .sort((one, other) => parametersIn(one) - parametersIn(other))
      .map((template) => ({ template, pattern: patternOf(template) }));
  }

  /** @throws Error naming operation, status and difference when the response does not conform */
  check(exchange: Exchange): void {
    const path = exchange.path.replace(/[?#].*$/s, '');
    if (DOCUMENT_PATH.test(path)) return;
    const method = exchange.method.toLowerCase();
    const found = this.templates.find(({ pattern }) => pattern.test(path));
    const operation = found && this.document.paths[found.template]?.[method === 'head' ? 'get' : method];
    if (!found || !operation) {
      this.checkUnknown(exchange, path);
      return;
    }
    this.checkKnown(exchange, `${exchange.method} ${found.template}`, operation);
  }

  private checkKnown(exchange: Exchange, name: string, operation: Operation): void {
    const { status, text, contentType } = exchange;
    const answered = `${name} answered ${status}`;
    const documented = this.resolved(operation.responses[status]);
    if (!documented) {
      const known = Object.keys(operation.responses).join(', ');
      throw new Error(`${answered}, the document knows only ${known}:\n${shown(text)}`);
    }
    if (exchange.method === 'HEAD') return;
    const types = Object.keys(documented.content ?? {});
    if (types.length === 0) {
      // a redirect may have a line for people (RFC 9110, 15.4)
      if (text !== '' && status < 300)
        throw new Error(`${answered} with a body, the document has none:\n${shown(text)}`);
      return;
    }
    const type = (contentType ?? '').split(';')[0]!.trim();
    const schema = documented.content?.[type]?.schema;
    if (!schema) {
      throw new Error(
        `${answered} as ${type || 'nothing'}, the document says ${types.join(', ')}:\n${shown(text)}`,
      );
    }
    if (type === 'application/json') this.checkBody(answered, schema, text);
  }

  /** An undocumented operation can only be refused, with one of the documented error shapes. */
  private checkUnknown(exchange: Exchange, path: string): void {
    const answered = `${exchange.method} ${path}, which is no documented operation, answered ${exchange.status}`;
    if (exchange.method === 'HEAD' || (exchange.method === 'OPTIONS' && exchange.text === '')) return;
    if (exchange.status < 400) throw new Error(`${answered}:\n${shown(exchange.text)}`);
    const anyOf = ERROR_SCHEMAS.map((name) => ({ $ref: `#/components/schemas/${name}` }));
    this.checkBody(answered, { anyOf }, exchange.text);
  }

  private checkBody(answered: string, schema: Schema, text: string): void {
    // hundreds of responses have the same one
    const key = JSON.stringify(schema);
    const validate = this.compiled.get(key) ?? this.ajv.compile(absolute(closed(schema)) as Schema);
    this.compiled.set(key, validate);
    if (validate(bodyOf(answered, text))) return;
    const differences = (validate.errors ?? []).map(messageOf).join('\n');
    throw new Error(
      `${answered} with a body the document does not describe:\n${differences}\n${shown(text)}`,
    );
  }

  private resolved(answer: DocumentedAnswer | undefined): DocumentedAnswer | undefined {
    const name = answer?.$ref?.split('/').at(-1);
    return name === undefined ? answer : this.document.components.responses?.[name];
  }
}

function bodyOf(answered: string, text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new Error(`${answered} with a body that is no JSON:\n${shown(text)}`);
  }
}

const parametersIn = (template: string): number => template.split('{').length - 1;

/** As Express matches: without regard to case, with or without a slash at the end. */
function patternOf(template: string): RegExp {
  const literal = template.replaceAll(/[.*+?^$()|[\]\\]/g, String.raw`\$&`);
  return new RegExp(`^${literal.replaceAll(/\{[^}]+\}/g, '[^/]+')}/?$`, 'i');
}

/** Forbids undocumented fields: an object that lists its properties has no others. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== 'object' || schema === null) return schema;
  const inner = Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [key, key === 'example' ? value : closed(value)]),
  );
  const listsAll = 'properties' in schema && 'type' in schema && !('additionalProperties' in schema);
  return listsAll ? { ...inner, additionalProperties: false } : inner;
}

/** References of a schema that stands alone, into the document. */
function absolute(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(absolute);
  if (typeof schema !== 'object' || schema === null) return schema;
  return Object.fromEntries(
    Object.entries(schema).map(([key, value]) =>
      key === '$ref' && typeof value === 'string' ? [key, `api${value}`] : [key, absolute(value)],
    ),
  );
}

const messageOf = ({ instancePath, message, params }: ErrorObject): string =>
  `  ${instancePath || 'the body'} ${message} ${JSON.stringify(params)}`;

const shown = (text: string): string =>
  text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text;
