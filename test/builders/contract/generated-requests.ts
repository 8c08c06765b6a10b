import * as fc from 'fast-check';
import type { FieldSchema, RequestParameter, RequestShape } from './documented-requests';

/** A request without its sender. */
export interface GeneratedRequest {
  readonly method: string;
  /** relative to the API's base, with its query */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  /** index of the caller that sends it */
  readonly caller: number;
}

/** Placeholder that the sender replaces with an id it knows. */
export const KNOWN_ID = /00000000-0000-4000-9000-([0-9a-f]{12})/g;

const knownId = fc
  .nat({ max: 0xff })
  .map((index) => `00000000-0000-4000-9000-${index.toString(16).padStart(12, '0')}`);
const id = fc.oneof(
  { weight: 6, arbitrary: knownId },
  { weight: 2, arbitrary: fc.uuid() },
  { weight: 1, arbitrary: fc.uuid().map((uuid) => uuid.toUpperCase()) },
);

/** Texts that are known to break parsers, queries, logs and files. */
const HOSTILE_TEXTS = [
  '',
  ' ',
  '\0',
  'a\0b',
  '\uD800',
  '\uDFFF\uD800',
  '\u202Eevil',
  '\uFEFF',
  'é'.normalize('NFD'),
  '😀'.repeat(50),
  "'; DROP TABLE users; --",
  '%',
  '%_%',
  '\\',
  '\\u0000',
  '../../etc/passwd',
  '..',
  '.',
  '%2e%2e%2f',
  '%00',
  '%zz',
  '<script>alert(1)</script>',
  '=1+1',
  '{{7*7}}',
  '${7*7}',
  '__proto__',
  'constructor',
  'null',
  'undefined',
  'NaN',
  'true',
  '0',
  '-1',
  '1e400',
  '0x10',
  '9'.repeat(30),
  '2026-02-30',
  '2026-01-31T25:00:00Z',
  '+275760-09-13T00:00:00.001Z',
  '0000-01-01',
  '9999-12-31T23:59:59.999999999+14:00',
  '10.0.0.0/8',
  '::ffff:10.0.0.1',
  '999.1.1.1',
  'fe80::1%eth0',
  'a@b',
  `${'a'.repeat(64)}@${'b'.repeat(250)}.example.com`,
  'x'.repeat(201),
  'x'.repeat(5000),
  '\r\nX-Injected: 1',
];
const hostileText = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...HOSTILE_TEXTS) },
  { weight: 2, arbitrary: fc.string({ unit: 'binary', maxLength: 60 }) },
  { weight: 2, arbitrary: fc.string({ maxLength: 60 }) },
);

const HOSTILE_NUMBERS = [0, -0, -1, 1, 0.5, 24, 65_536, 2 ** 31, 2 ** 53, -(2 ** 63), 1e308, 5e-324, 1e21];
const hostileValue: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 6, arbitrary: hostileText },
  { weight: 4, arbitrary: fc.constantFrom(...HOSTILE_NUMBERS) },
  { weight: 1, arbitrary: fc.constantFrom(null, true, false) },
  { weight: 1, arbitrary: fc.constantFrom<unknown>([], {}, [[]], [null], [{}], { a: { b: [] } }) },
  { weight: 1, arbitrary: fc.array(hostileText, { maxLength: 3 }) },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
  { weight: 1, arbitrary: fc.constantFrom(101, 1001).map((length) => Array<number>(length).fill(1)) },
  { weight: 1, arbitrary: fc.constantFrom(19, 25, 500).map(nested) },
);

function nested(depth: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < depth; level += 1) value = level % 2 === 0 ? [value] : { a: value };
  return value;
}

/** By a field's format, or by its name where the document says only `string`. */
const TEXTS: readonly (readonly [RegExp, fc.Arbitrary<string>])[] = [
  [/^uuid$|Id(s|s\.\d+)?$/, id],
  [/^email$|mail$/i, fc.nat({ max: 99 }).map((index) => `person-${index}@example.com`)],
  [
    /^date-time$|^(from|to|at|expiresAt)$/,
    fc
      .date({ min: new Date('2020-01-01'), max: new Date('2035-01-01'), noInvalidDate: true })
      .map((date) => date.toISOString()),
  ],
  [/address|^ipv?[46]?/i, fc.oneof(fc.ipV4(), fc.ipV6(), fc.constantFrom('203.0.113.0/24', '2001:db8::/48'))],
  [/hostname/i, fc.domain()],
];

/** A value that matches a schema, as far as the document specifies it. */
function fitting(schema: FieldSchema, name = ''): fc.Arbitrary<unknown> {
  const choices = schema.enum ?? schema['x-known-values'];
  if (choices) return fc.constantFrom(...choices);
  const type = [schema.type].flat().find((one) => one !== 'null');
  if (schema.properties) return fittingObject(schema);
  if (type === 'array')
    return fc.array(fitting(schema.items ?? {}, name), { maxLength: Math.min(schema.maxItems ?? 3, 3) });
  if (type === 'integer' || type === 'number')
    return fc.integer({ min: schema.minimum ?? 0, max: schema.maximum ?? 10_000 });
  if (type === 'boolean') return fc.boolean();
  if (type === 'object') return fc.dictionary(fc.string({ maxLength: 10 }), hostileValue, { maxKeys: 4 });
  const example = schema.example === undefined ? [] : [fc.constant(schema.example)];
  const known = TEXTS.find(([pattern]) => pattern.test(schema.format ?? '') || pattern.test(name))?.[1];
  const length = Math.min(schema.maxLength ?? 40, 40);
  return fc.oneof(...example, known ?? fc.string({ minLength: schema.minLength ?? 1, maxLength: length }));
}

const fittingObject = ({ properties = {}, required = [] }: FieldSchema): fc.Arbitrary<object> =>
  fc.record(
    Object.fromEntries(Object.entries(properties).map(([name, field]) => [name, fitting(field, name)])),
    { requiredKeys: [...required] },
  );

/** The same with some fields invalid, missing or unknown. */
function mutated(schema: FieldSchema): fc.Arbitrary<unknown> {
  const names = Object.keys(schema.properties ?? {});
  const field = fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom(...(names.length > 0 ? names : ['field'])) },
    { weight: 1, arbitrary: fc.constantFrom('__proto__', 'constructor', 'toString', 'id', '', '$ref') },
  );
  const spoiled = fc.array(fc.tuple(field, fc.oneof(hostileValue, fc.constant(undefined))), {
    minLength: 1,
    maxLength: 3,
  });
  return fc.tuple(fitting(schema), spoiled).map(([value, changes]) => {
    const entries = Object.entries(value as object);
    // as JSON, so that __proto__ is a field like any other
    return Object.fromEntries([
      ...entries.filter(([name]) => !changes.some(([changed]) => changed === name)),
      ...changes.filter(([, change]) => change !== undefined),
    ]);
  });
}

const RAW_BODIES = [
  '',
  '{',
  '[]',
  'null',
  '"a"',
  '{"a":1,}',
  '\uFEFF{}',
  '{"a":"\u0001"}',
  `"${'x'.repeat(120_000)}"`,
];

const bodyOf = (schema: FieldSchema): fc.Arbitrary<string> =>
  fc.oneof(
    { weight: 8, arbitrary: fitting(schema).map((value) => JSON.stringify(value)) },
    { weight: 10, arbitrary: mutated(schema).map((value) => JSON.stringify(value)) },
    { weight: 1, arbitrary: hostileValue.map((value) => JSON.stringify(value)) },
    { weight: 1, arbitrary: fc.constantFrom(...RAW_BODIES) },
  );

/** Such a request would be answered only after the wait. */
const WAITS = 'waitSeconds';

const valueOf = ({ name, schema }: RequestParameter): fc.Arbitrary<string> =>
  name === WAITS
    ? fc.constantFrom('0', '-1', '1.5', 'x', '')
    : fc.oneof(
        { weight: 3, arbitrary: fitting(schema, name).map((value) => [value].flat().join(',')) },
        { weight: 1, arbitrary: hostileText },
      );

/** Lone surrogates cannot be encoded in a URL. */
const encoded = (text: string): string => encodeURIComponent(Buffer.from(text).toString());

const queryOf = (parameters: readonly RequestParameter[]): fc.Arbitrary<string> => {
  const known = parameters.map((one) => valueOf(one).map((value) => `${one.name}=${encoded(value)}`));
  const odd = fc
    .tuple(fc.constantFrom('unknown', 'page[]', 'page[a]', '__proto__', '', 'size'), hostileText)
    .map(([name, value]) => `${encoded(name)}=${encoded(value)}`);
  return fc
    .array(known.length === 0 ? odd : fc.oneof(...known, ...known, odd), { maxLength: 4 })
    .map((parts) => (parts.length === 0 ? '' : `?${parts.join('&')}`));
};

function pathOf({ template, parameters }: RequestShape): fc.Arbitrary<string> {
  const names = [...template.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
  const value = fc.oneof(
    { weight: 8, arbitrary: id },
    { weight: 1, arbitrary: hostileText.map(encoded).filter((text) => text !== '' && !/^\.+$/.test(text)) },
    { weight: 1, arbitrary: fc.constantFrom('sandbox', 'stripe', 'admin', '%zz', '%00', '%2F', 'x') },
  );
  const inQuery = parameters.filter((one) => one.in === 'query');
  return fc.tuple(fc.tuple(...names.map(() => value)), queryOf(inQuery)).map(([values, query]) => {
    const path = names.reduce((text, name, index) => text.replace(`{${name}}`, values[index]!), template);
    return path + query;
  });
}

const HEADER_VALUES = [
  'a',
  'x'.repeat(300),
  '"',
  'application/json; charset=utf-8',
  '203.0.113.9',
  '[::1]:x',
  '*/*',
];
const headersOf = (hasBody: boolean): fc.Arbitrary<Record<string, string>> =>
  fc
    .dictionary(
      fc.constantFrom(
        'Idempotency-Key',
        'X-Forwarded-For',
        'X-Real-IP',
        'X-Request-Id',
        'Accept',
        'Stripe-Signature',
      ),
      fc.constantFrom(...HEADER_VALUES),
      { maxKeys: 2 },
    )
    .chain((headers) =>
      fc
        .constantFrom(
          ...Array<string>(20).fill('application/json'),
          'text/plain',
          'application/json; charset=latin1',
        )
        .map((type) => (hasBody ? { ...headers, 'Content-Type': type } : headers)),
    );

/** Requests to one operation: some valid, most slightly invalid. @param callers number of callers */
export const requestsTo = (shape: RequestShape, callers: number): fc.Arbitrary<GeneratedRequest> =>
  fc.record({
    method: fc.constant(shape.method),
    path: pathOf(shape),
    headers: headersOf(shape.body !== null),
    body: shape.body ? bodyOf(shape.body) : fc.constant(undefined),
    caller: fc.nat({ max: callers - 1 }),
  });
