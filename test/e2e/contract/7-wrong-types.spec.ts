import { randomUUID } from 'node:crypto';
import { organization } from '../../builders/organization';
import type { ApiClient } from '../../harness/api-client';
import { Drawbridge } from '../../harness/drawbridge';

/** What an agent asks with its key; the rest under /agents is for administrators. */
const AGENT_CHANNEL = /^\/agents\/(state|report)/;

interface Schema {
  readonly $ref?: string;
  readonly allOf?: readonly Schema[];
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
}

interface Documented {
  readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentedOperation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

interface DocumentedOperation {
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
}

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
const TEXT = /^must be (a string|a text|an IPv[46] address)/;
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
  schema.enum ? /^must be one of / : (FORMATS[schema.format ?? ''] ?? TYPES[typeOf(schema)]!.words);

/** The message about one field, wherever the shape of the body has it. */
function toldOf({ message, validationErrors }: Refusal, path: string): string | undefined {
  if (validationErrors) return validationErrors[path];
  const told = message.split('; ').find((words) => words.startsWith(`${path} `));
  return told?.slice(path.length + 1);
}

describe('7 Errors: a value of the wrong type', () => {
  let drawbridge: Drawbridge;
  let operator: ApiClient;
  let agent: ApiClient;
  let document: Documented;

  beforeAll(async () => {
    drawbridge = await Drawbridge.shared();
    const org = await organization(drawbridge, []);
    await drawbridge.query(`UPDATE users SET platform_role = 'SUPER_ADMIN' WHERE id = $1`, [org.adminId]);
    operator = org.admin;
    agent = await org.apiKey(['agent:connect']);
    const url = `http://127.0.0.1:${drawbridge.apiServer.port}/api/v1/openapi.json`;
    document = (await (await fetch(url)).json()) as Documented;
  });
  afterAll(() => drawbridge.stop());

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

  it('an object is no text either', async () => {
    const { status, body } = await drawbridge.api.post<Refusal>('/auth/login', {
      email: {},
      password: { length: 12 },
    });
    expect([status, body.validationErrors]).toEqual([
      400,
      { email: 'must be a well-formed e-mail address', password: 'must be a text' },
    ]);
  });
});
