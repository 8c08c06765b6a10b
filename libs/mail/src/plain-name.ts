import { withoutHidden } from '#rules';

const MAX_NAME_LENGTH = 64;
/** a dot (in any script that mail programs recognize in addresses) followed by a non-blank */
const INNER_DOT = /([.\u3002\uFF0E\uFF61])(?=\S)/g;

/** One line of visible characters, in which no address has a protocol. */
export function plainLine(text: string, maximum: number): string {
  const characters = Array.from(withoutHidden(text.replaceAll(/\s+/g, ' ')).replaceAll('://', ' '));
  return characters.length > maximum ? `${characters.slice(0, maximum).join('')}…` : characters.join('');
}

/**
 * Sanitizes a user-chosen name for a mail: one short line without anything that a mail program turns into a link. A name
 * such as "Example.com" would otherwise become one.
 */
export const plainName = (name: string): string =>
  plainLine(plainLine(name, Infinity).replaceAll(INNER_DOT, '$1 '), MAX_NAME_LENGTH);
