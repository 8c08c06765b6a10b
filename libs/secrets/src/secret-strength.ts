/** What a secret needs, by estimate. */
export const MIN_SECRET_BITS = 128;
/** Longer texts are strong enough by any estimate of their beginning. */
const MAX_LENGTH = 256;
const MIN_REPEAT = 5;
const MIN_RUN = 5;

/** Words that people write into secrets; random text holds none of them. */
const GUESSABLE = /secret|passw|change|example|default|drawbridge|qwert|insert|replace|development/i;

const CLASSES: readonly [RegExp, number][] = [
  [/[0-9]/, 10],
  [/[a-z]/, 26],
  [/[A-Z]/, 26],
  [/[^0-9a-zA-Z\x80-\uffff]/, 32],
  [/[\x80-\uffff]/, 128],
];

const poolOf = (text: string): number => {
  if (/^[0-9a-f]*$/.test(text) || /^[0-9A-F]*$/.test(text)) return /[a-f]/i.test(text) ? 16 : 10;
  return CLASSES.reduce((sum, [has, size]) => sum + (has.test(text) ? size : 0), 0);
};

/**
 * How many bits of chance a text holds at most: each character counts by the kinds of characters in use, a piece that
 * was there before and a run of equal or consecutive characters count as one. A text that holds a word people write
 * into secrets counts nothing.
 */
export function estimatedBits(secret: string): number {
  const text = secret.slice(0, MAX_LENGTH);
  if (text === '' || GUESSABLE.test(text)) return 0;
  let symbols = 0;
  for (let at = 0; at < text.length;) {
    at += Math.max(runLength(text, at), repeatLength(text, at), 1);
    symbols += 1;
  }
  return symbols * Math.log2(Math.max(poolOf(text), 2));
}

/** Characters from here on that follow each other by the same step of -1, 0 or 1; 0 when they are few. */
function runLength(text: string, at: number): number {
  const step = text.charCodeAt(at + 1) - text.charCodeAt(at);
  if (!(Math.abs(step) <= 1)) return 0;
  let end = at + 1;
  while (text.charCodeAt(end) - text.charCodeAt(end - 1) === step) end += 1;
  return end - at >= MIN_RUN ? end - at : 0;
}

/** The longest piece from here on that stands further left, too; 0 when it is short. */
function repeatLength(text: string, at: number): number {
  let length = 0;
  while (
    at + length < text.length &&
    text.slice(0, at + length).includes(text.slice(at, at + Math.max(length + 1, MIN_REPEAT)))
  ) {
    length = Math.max(length + 1, MIN_REPEAT);
  }
  return Math.min(length, text.length - at);
}
