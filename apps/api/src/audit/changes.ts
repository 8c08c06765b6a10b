export type Changes = Readonly<Record<string, { readonly from: unknown; readonly to: unknown }>>;

/**
 * What an update changed, for the audit record's details.
 * @param fields those that may be shown to whoever reads the audit trail
 */
export function changesBetween<T extends object>(
  before: T,
  after: T,
  fields: readonly (keyof T & string)[],
): Changes {
  const changed = fields.filter((field) => before[field] !== after[field]);
  return Object.fromEntries(changed.map((field) => [field, { from: before[field], to: after[field] }]));
}
