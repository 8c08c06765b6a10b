/** The estimated strength that a secret needs. */
export const MIN_SECRET_BITS = 128;
/** Only the beginning of longer texts is estimated. */
const MAX_LENGTH = 256;
const MIN_REPEAT = 5;
const MIN_RUN = 5;

/** Words in secrets that are not random. */
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
 * Upper bound of a text's entropy in bits: each character counts by the character classes in use; a repeated piece and a
 * run of equal or consecutive characters count as one character. A text with a guessable word counts as 0.
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

/** Length of the run from `at` in which characters differ by the same step of -1, 0 or 1; 0 when it is short. */
function runLength(text: string, at: number): number {
  const step = text.charCodeAt(at + 1) - text.charCodeAt(at);
  if (!(Math.abs(step) <= 1)) return 0;
  let end = at + 1;
  while (text.charCodeAt(end) - text.charCodeAt(end - 1) === step) end += 1;
  return end - at >= MIN_RUN ? end - at : 0;
}

/** Length of the longest piece from `at` that also occurs before; 0 when it is short. */
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
