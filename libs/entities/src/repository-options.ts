/** `lock` of `find…` inside a transaction: other writers wait, foreign keys to the row do not. */
export const FOR_NO_KEY_UPDATE = { mode: 'for_no_key_update' } as const;

type Defined<T> = { -readonly [Field in keyof T]?: Exclude<T[Field], undefined> };

/** The fields that have a value, for `update`: those that are undefined stay as they are. */
export const definedFields = <T extends object>(fields: T): Defined<T> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Defined<T>;
