/**
 * Characters of which a reader sees nothing, or something else: control and format characters, line and paragraph
 * separators, marks of direction, blank letters, halves of characters and what is no character. The joiners U+200C and
 * U+200D belong to the spelling of some languages and to emoji: behind a letter without case, a mark or an emoji they are
 * text.
 */
const HIDDEN =
  /(?<![\p{Lo}\p{M}\p{Extended_Pictographic}\p{Emoji_Modifier}])[\u200C\u200D]|(?![\u200C\u200D])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Noncharacter_Code_Point}\u034F\u115F\u1160\u2065\u2800\u3164\uFFA0]/gu;

/** The hidden characters of a text, each once, as `U+202E`. */
export const hiddenCharacters = (text: string): string[] => [
  ...new Set(text.match(HIDDEN)?.map((one) => `U+${hex(one.codePointAt(0)!)}`)),
];

/** A text on one line with its hidden characters as `\u202e`, which neither a terminal nor a log obeys. */
export const visible = (text: string): string =>
  text.replaceAll(HIDDEN, (one) =>
    one
      .split('')
      .map((unit) => `\\u${hex(unit.charCodeAt(0)).toLowerCase()}`)
      .join(''),
  );

/** The same for each line of a text. */
export const visibleLines = (text: string): string => text.split('\n').map(visible).join('\n');

/** A text without its hidden characters. */
export const withoutHidden = (text: string): string => text.replaceAll(HIDDEN, '');

const hex = (code: number): string => code.toString(16).toUpperCase().padStart(4, '0');
