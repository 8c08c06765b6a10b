/** A word of a command that can be pasted into a shell. */
export const pasted = (word: string): string =>
  /^[\w@.:+/-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
