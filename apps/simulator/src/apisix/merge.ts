import { invalid } from './admin-error';

export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };
export type JsonObject = { [name: string]: Json };

export const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Merges a part into an object: lists are replaced, null removes a field. */
export function merged(origin: JsonObject, part: JsonObject): JsonObject {
  const result = { ...origin };
  for (const [name, value] of Object.entries(part)) {
    const known = result[name];
    if (value === null) delete result[name];
    else result[name] = isObject(value) && isObject(known) ? merged(known, value) : value;
  }
  return result;
}

/** Replaces the value at a path of an object; missing parents are created. @throws CloudError */
export function replacedAt(origin: JsonObject, path: readonly string[], value: Json): JsonObject {
  const [name, ...rest] = path;
  if (name === undefined) throw invalid('invalid sub-path: /');
  if (rest.length === 0) return { ...origin, [name]: value };
  const known = origin[name] ?? {};
  if (!isObject(known)) throw invalid(`invalid sub-path: /${path.join('/')}`);
  return { ...origin, [name]: replacedAt(known, rest, value) };
}
