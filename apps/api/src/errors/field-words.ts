const OF_ELEMENTS = /^each value in (?:nested property )?\S+ /;
const NESTED = /^nested property \S+ /;
const OF_AN_OBJECT = 'must be either object or array';

/**
 * A message about a field in the words that follow its name: "must be a UUID", whether the name led it or not.
 * @param field its path, `config.port`
 */
export function afterFieldName(message: string, field: string): string {
  if (OF_ELEMENTS.test(message)) {
    return `elements ${message.replace(OF_ELEMENTS, '').replace(OF_AN_OBJECT, 'must be objects')}`;
  }
  if (NESTED.test(message)) return message.replace(NESTED, '').replace(OF_AN_OBJECT, 'must be an object');
  const name = [field, field.split('.').at(-1) ?? field].find((own) => message.startsWith(`${own} `));
  return name === undefined ? message : message.slice(name.length + 1);
}
