import type { CredentialShape } from '#drivers';

type Fields = Readonly<Record<string, unknown>>;

const BASE64 = /^[A-Za-z0-9+/=\s]+$/;

const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Parses JSON of an object, or the base64 of one, as secret stores keep it. @returns null for any other text */
export function pastedObject(text: string): Fields | null {
  const trimmed = text.trim();
  const json =
    trimmed.startsWith('{') || !BASE64.test(trimmed) ? trimmed : Buffer.from(trimmed, 'base64').toString();
  if (!json.trimStart().startsWith('{')) return null;
  try {
    const value: unknown = JSON.parse(json);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

/**
 * The fields of a credential in the forms that people have it in: an object with the fields, the provider's own names for
 * them, a file or a tool's output as JSON in one of the fields, or inside another object.
 */
export function pastedFields(shape: CredentialShape, given: Fields): Fields {
  const { aliases = {}, parse } = shape;
  const inner = innerObject(shape, given);
  const fields = { ...parse?.(given), ...given, ...(inner && { ...parse?.(inner), ...inner }) };
  const named = Object.entries(aliases).flatMap(([alias, field]) =>
    Object.hasOwn(fields, alias) && !Object.hasOwn(fields, field) ? [[field, fields[alias]] as const] : [],
  );
  return { ...fields, ...Object.fromEntries(named) };
}

/** The first object, or JSON of one, that has fields of the credential. */
function innerObject(
  { required, optional, aliases = {}, parse }: CredentialShape,
  given: Fields,
): Fields | undefined {
  const known = [...required, ...optional, ...Object.keys(aliases)];
  const hasFields = (object: Fields): boolean =>
    known.some((field) => Object.hasOwn(object, field)) || Object.keys(parse?.(object) ?? {}).length > 0;
  return Object.values(given)
    .map((value) =>
      typeof value === 'string' && value.trimStart().startsWith('{') ? pastedObject(value) : value,
    )
    .find((value): value is Fields => isObject(value) && hasFields(value));
}
