/** Jest's matcher, for a place where a text is expected. */
export const containing = (text: string): string => expect.stringContaining(text) as string;
/** Jest's matcher, for a place where a text is expected. */
export const matching = (form: string | RegExp): string => expect.stringMatching(form) as string;
