const ELEMENTS_PREFIX = /^each value in (?:nested property )?\S+ /;
const NESTED_PREFIX = /^nested property \S+ /;
const OBJECT_OR_ARRAY = 'must be either object or array';

/**
 * Removes the leading field name of a validation message, so that it can follow the name: "must be a UUID".
 * @param field its path, `config.port`
 */
export function stripFieldName(message: string, field: string): string {
  if (ELEMENTS_PREFIX.test(message)) {
    return `elements ${message.replace(ELEMENTS_PREFIX, '').replace(OBJECT_OR_ARRAY, 'must be objects')}`;
  }
  if (NESTED_PREFIX.test(message)) {
    return message.replace(NESTED_PREFIX, '').replace(OBJECT_OR_ARRAY, 'must be an object');
  }
  const name = [field, field.split('.').at(-1) ?? field].find((own) => message.startsWith(`${own} `));
  return name === undefined ? message : message.slice(name.length + 1);
}
