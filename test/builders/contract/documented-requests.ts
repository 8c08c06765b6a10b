import type { ApiClient } from '../../harness/product/api-client';

/** A schema of the document, with its references resolved. */
export interface FieldSchema {
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly enum?: readonly unknown[];
  readonly 'x-known-values'?: readonly unknown[];
  readonly example?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly items?: FieldSchema;
  readonly properties?: Readonly<Record<string, FieldSchema>>;
  readonly required?: readonly string[];
}

export interface RequestParameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly schema: FieldSchema;
}

/** One operation of the document, with what may be sent to it. */
export interface RequestShape {
  /** `POST /roles/{id}` */
  readonly name: string;
  readonly method: string;
  /** relative to the API's base */
  readonly template: string;
  readonly parameters: readonly RequestParameter[];
  /** null: the operation has no body */
  readonly body: FieldSchema | null;
  /** the document's example body */
  readonly example: unknown;
}

interface Raw {
  readonly $ref?: string;
  readonly allOf?: readonly Raw[];
  readonly [key: string]: unknown;
}

interface RawOperation {
  readonly parameters?: readonly RequestParameter[];
  readonly requestBody?: {
    readonly content: Readonly<Record<string, { readonly schema: Raw; readonly example?: unknown }>>;
  };
}

interface RawDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, RawOperation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Raw>> };
}

/** The operations in the document of a running API, without downloads, which are outside its prefix. */
export async function requestShapes(api: ApiClient): Promise<RequestShape[]> {
  const { paths, components } = await api.read<RawDocument>('/openapi.json');
  const resolved = (schema: Raw): FieldSchema => resolve(schema, components.schemas) as FieldSchema;
  const ofApi = Object.entries(paths).filter(([path]) => path.startsWith('/api/v1/'));
  return ofApi.flatMap(([path, item]) =>
    Object.entries(item).map(([method, { parameters = [], requestBody }]) => {
      const template = path.replace(/^\/api\/v1/, '');
      const media = requestBody?.content['application/json'];
      return {
        name: `${method.toUpperCase()} ${template}`,
        method: method.toUpperCase(),
        template,
        parameters: parameters.map((one) => ({ ...one, schema: resolved(one.schema as Raw) })),
        body: media ? resolved(media.schema) : null,
        example: media?.example ?? {},
      };
    }),
  );
}

function resolve(schema: unknown, schemas: RawDocument['components']['schemas']): unknown {
  if (Array.isArray(schema)) return schema.map((one: unknown) => resolve(one, schemas));
  if (typeof schema !== 'object' || schema === null) return schema;
  const { $ref, allOf, ...rest } = schema as Raw;
  const parts = [...($ref === undefined ? [] : [schemas[$ref.split('/').at(-1)!]]), ...(allOf ?? [])].map(
    (part) => resolve(part, schemas) as object,
  );
  const own = Object.entries(rest).map(([key, value]) => [
    key,
    key === 'example' ? value : resolve(value, schemas),
  ]);
  return Object.assign({}, ...parts, Object.fromEntries(own));
}

export type Path = readonly (string | number)[];

/** Paths of the string fields in a body that matches a schema. */
export function textsIn(schema: FieldSchema, at: Path = []): Path[] {
  const inner = Object.entries(schema.properties ?? {}).flatMap(([name, field]) =>
    textsIn(field, [...at, name]),
  );
  const items = schema.items ? textsIn(schema.items, [...at, 0]) : [];
  const isText = [schema.type].flat().includes('string');
  // an object of any fields: one of them
  const isOpen = [schema.type].flat().includes('object') && !schema.properties;
  return [...inner, ...items, ...(isText ? [at] : []), ...(isOpen ? [[...at, 'field']] : [])];
}

/** A copy of a value with one path set; missing parents are created. */
export function replaced(value: unknown, [key, ...rest]: Path, by: unknown): unknown {
  if (key === undefined) return by;
  if (typeof key === 'number') {
    const items: unknown[] = Array.isArray(value) ? value : [];
    return [replaced(items[key], rest, by), ...items.slice(1)];
  }
  const fields = (typeof value === 'object' && value !== null ? value : {}) as Record<string, unknown>;
  return { ...fields, [key]: replaced(fields[key], rest, by) };
}
