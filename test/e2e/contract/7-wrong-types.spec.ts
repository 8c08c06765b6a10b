import { randomUUID } from 'node:crypto';
import { organization } from '../../builders/accounts/organization';
import type { ApiClient } from '../../harness/product/api-client';
import { Drawbridge } from '../../harness/product/drawbridge';

/** What an agent asks with its key; the rest under /agents is for administrators. */
const AGENT_CHANNEL = /^\/agents\/(state|report)/;

interface Schema {
  readonly $ref?: string;
  readonly allOf?: readonly Schema[];
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly enum?: readonly unknown[];
  /** as an enum for requests; clients must expect others in answers */
  readonly 'x-known-values'?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
}

interface Documented {
  readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentedOperation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

interface DocumentedOperation {
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
}

/** Secrets, types and addresses, which have forms of their own; and what agents report, which is never refused for its form. */
const NEVER_SHOWN = /password|secret|token|^code$|^version$|Type$|Address$/i;

/** A field, and what is said when a value of another type is sent. */
interface Field {
  readonly path: string;
  readonly words: RegExp;
}

interface Refusal {
  readonly message: string;
  readonly validationErrors?: Readonly<Record<string, string>>;
}

/** What a text of a format may be called instead. */
const FORMATS: Readonly<Record<string, RegExp>> = {
  uuid: /^must be a UUID/,
  email: /^must be (an|a well-formed) e-mail address|^must be a string/,
  'date-time': /^must be an ISO 8601 time/,
};
const TEXT = /^must be (a string|a text|an IPv[46] address|an ISO 8601 time)/;
const TYPES: Readonly<Record<string, { wrong: unknown; words: RegExp }>> = {
  string: { wrong: 17, words: TEXT },
  integer: { wrong: {}, words: /^must be a (whole number|port from 1 to)/ },
  number: { wrong: {}, words: /^must be a number/ },
  boolean: { wrong: 17, words: /^must be true or false/ },
  array: { wrong: 17, words: /^must be an array/ },
  object: { wrong: 17, words: /^must be an object/ },
};

const typeOf = ({ type, properties }: Schema): string =>
  (typeof type === 'string' ? type : type?.find((one) => one !== 'null')) ?? (properties ? 'object' : '');

const messageFor = (schema: Schema): RegExp =>
  (schema.enum ?? schema['x-known-values'])
    ? /^must be one of /
    : (FORMATS[schema.format ?? ''] ?? TYPES[typeOf(schema)]!.words);

/** The message about one field, wherever the shape of the body has it. */
function toldOf({ message, validationErrors }: Refusal, path: string): string | undefined {
  if (validationErrors) return validationErrors[path];
  const told = message.split('; ').find((words) => words.startsWith(`${path} `));
  return told?.slice(path.length + 1);
}

describe('7 Errors: a value of the wrong type', () => {
  const drawbridge = Drawbridge.shared({ worker: false });
  let operator: ApiClient;
  let agent: ApiClient;
  let document: Documented;

  beforeAll(async () => {
    const org = await organization(drawbridge, []);
    await drawbridge.query(`UPDATE users SET platform_role = 'SUPER_ADMIN' WHERE id = $1`, [org.adminId]);
    operator = org.admin;
    agent = await org.apiKey(['agent:connect']);
    const url = `http://127.0.0.1:${drawbridge.apiServer.port}/api/v1/openapi.json`;
    document = (await (await fetch(url)).json()) as Documented;
  });

  const resolved = (schema: Schema): Schema => {
    // a described reference is the only part of another schema
    const name = (schema.$ref ?? schema.allOf?.[0]?.$ref)?.split('/').at(-1);
    return name === undefined ? schema : document.components.schemas[name]!;
  };

  /** A body whose every field has a value of another type, and what is to be said of each. */
  function wrongBody(schema: Schema, parent = ''): { body: object; fields: Field[] } {
    const made = Object.entries(schema.properties ?? {}).map(([name, property]) => {
      const own = resolved(property);
      const path = parent + name;
      if (own.properties) {
        const { body, fields } = wrongBody(own, `${path}.`);
        return { name, value: body, fields };
      }
      const value = TYPES[typeOf(own)]?.wrong;
      if (value === undefined) throw new Error(`What is no ${typeOf(own)}, for ${path}?`);
      return { name, value, fields: [{ path, words: messageFor(own) }] };
    });
    return {
      body: Object.fromEntries(made.map(({ name, value }) => [name, value])),
      fields: made.flatMap(({ fields }) => fields),
    };
  }

  const operationsWithFields = (): { method: string; path: string; schema: Schema }[] =>
    Object.entries(document.paths).flatMap(([template, item]) =>
      Object.entries(item).flatMap(([method, { requestBody }]) => {
        const schema = resolved(requestBody?.content['application/json']?.schema ?? {});
        const path = template.replace(/^\/api\/v1/, '').replaceAll(/\{\w+\}/g, () => randomUUID());
        return schema.properties ? [{ method: method.toUpperCase(), path, schema }] : [];
      }),
    );

  it('is reported as such, for every field of every request', async () => {
    const operations = operationsWithFields();
    expect(operations.length).toBeGreaterThan(25);
    const wrong: string[] = [];
    for (const { method, path, schema } of operations) {
      const { body, fields } = wrongBody(schema);
      const caller = AGENT_CHANNEL.test(path) ? agent : operator;
      const answer = await caller.send<Refusal>(method, path, body);
      if (answer.status !== 400) wrong.push(`${method} ${path}: ${answer.status}`);
      for (const field of fields) {
        const told = toldOf(answer.body, field.path);
        if (!field.words.test(told ?? '')) wrong.push(`${method} ${path}: ${field.path} ${told}`);
      }
    }
    expect(wrong).toEqual([]);
  });

  it('a text that hides something or acts on a terminal is refused in every field that is shown', async () => {
    const taken: string[] = [];
    for (const { method, path, schema } of operationsWithFields()) {
      const caller = AGENT_CHANNEL.test(path) ? agent : operator;
      const texts = Object.entries(schema.properties!).filter(([name, property]) => {
        const { format, enum: choices, ...own } = resolved(property);
        return typeOf(own) === 'string' && !format && !choices && !NEVER_SHOWN.test(name);
      });
      if (texts.length === 0) continue;
      const body = Object.fromEntries(texts.map(([name]) => [name, 'red\u001B[31m\u202Eder']));
      const { body: refusal } = await caller.send<Refusal>(method, path, body);
      for (const [name] of texts)
        if (toldOf(refusal, name) === undefined) taken.push(`${method} ${path}: ${name}`);
    }
    expect(taken).toEqual([]);
  });

  it.each([
    ['a sequence for terminals', 'red\u001B[31m', 'U+001B'],
    ['a line of its own', 'a\n::add-mask::b', 'U+000A'],
    ['another kind of line', 'a\u2028b', 'U+2028'],
    ['8-bit controls', 'a\u009B31m', 'U+009B'],
    ['another direction', 'abc\u202Efdp.exe', 'U+202E'],
    ['an isolate and a mark', '\u2067a\u2069b\u200Fc', 'U+2067, U+2069, U+200F'],
    ['no width', 'pay\u200Bpal', 'U+200B'],
    ['a joiner between Latin letters', 'pay\u200Dpal', 'U+200D'],
    ['no character', 'a\uFFFE', 'U+FFFE'],
    ['letters for machines only', 'a\u{E0041}', 'U+E0041'],
  ])('a name with %s: 400 that names the field and the characters', async (_, name, characters) => {
    const { status, body } = await operator.post<Refusal>('/roles', { name });
    expect([status, body.validationErrors?.['name']]).toEqual([400, expect.stringContaining(characters)]);
  });

  it.each(['می\u200Cخواهم', 'क्\u200Dष', '👩\u200D💻 Größe 日本 ☎️', 'O’Neil & Söhne (α)'])(
    'a name people write is taken as it is: %s',
    async (name) => {
      const made = await operator.created<{ name: string }>('/roles', { name });
      expect(made.name).toBe(name);
    },
  );

  it('a description may have lines', async () => {
    const body = { name: 'With lines', description: 'one\r\n\ttwo' };
    expect((await operator.post('/roles', body)).status).toBe(201);
  });
});
