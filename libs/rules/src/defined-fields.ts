type Defined<T> = { -readonly [Field in keyof T]?: Exclude<T[Field], undefined> };

/** The fields that have a value, for what takes none that is undefined. */
export const definedFields = <T extends object>(fields: T): Defined<T> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Defined<T>;
