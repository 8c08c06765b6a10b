import { isDeepStrictEqual } from 'node:util';

export type Changes = Readonly<Record<string, { readonly from: unknown; readonly to: unknown }>>;

/**
 * The fields an update changed, for the details of an audit record.
 * @param fields the fields that readers of the audit trail may see
 */
export function changesBetween<T extends object>(
  before: T,
  after: T,
  fields: readonly (keyof T & string)[],
): Changes {
  const changed = fields.filter((field) => !isDeepStrictEqual(before[field], after[field]));
  return Object.fromEntries(changed.map((field) => [field, { from: before[field], to: after[field] }]));
}
