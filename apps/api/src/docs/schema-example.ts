import type { Schemas, SchemaOrRef } from './document.types';

const BY_FORMAT: Readonly<Record<string, unknown>> = {
  uuid: '3fa85f64-5717-4562-b3fc-2c963f66afa6',
  'date-time': '2026-01-31T09:30:00.000Z',
  date: '2026-01-31',
  email: 'ada@example.com',
  uri: 'https://example.com/',
};

/** No example was given and none can be derived: a text, a number, an object without fields. */
export const NO_EXAMPLE = Symbol('no example');

/** A body that matches a schema, built from the examples of its fields. Fields without an example are omitted. */
export function exampleOf(schema: SchemaOrRef, schemas: Schemas, depth = 0): unknown {
  if ('$ref' in schema) {
    const target = schemas[schema.$ref.split('/').at(-1) ?? ''];
    return target && depth < 8 ? exampleOf(target, schemas, depth + 1) : NO_EXAMPLE;
  }
  if ('example' in schema) return schema.example;
  if (schema.default !== undefined) return schema.default;
  if (schema.enum) return schema.enum.includes(null) ? null : schema.enum[0];
  const [first] = schema.allOf ?? schema.oneOf ?? schema.anyOf ?? [];
  if (first) return exampleOf(first, schemas, depth + 1);
  return ofType(schema, schemas, depth);
}

function ofType(schema: Exclude<SchemaOrRef, { $ref: string }>, schemas: Schemas, depth: number): unknown {
  const types: readonly string[] = [schema.type ?? []].flat();
  if (schema.format !== undefined && schema.format in BY_FORMAT) return BY_FORMAT[schema.format];
  if (types.includes('null')) return null;
  if (types.includes('boolean')) return true;
  if (types.includes('integer') && schema.minimum !== undefined) return schema.minimum;
  if (types.includes('array') && schema.items) {
    const item = exampleOf(schema.items, schemas, depth + 1);
    return item === NO_EXAMPLE ? NO_EXAMPLE : [item];
  }
  if (!schema.properties) return NO_EXAMPLE;
  const fields = Object.entries(schema.properties).map(
    ([name, field]) => [name, exampleOf(field, schemas, depth + 1)] as const,
  );
  return Object.fromEntries(fields.filter(([, value]) => value !== NO_EXAMPLE));
}
