/** Jest's matcher, typed as a string. */
export const containing = (text: string): string => expect.stringContaining(text) as string;
/** Jest's matcher, typed as a string. */
export const matching = (form: string | RegExp): string => expect.stringMatching(form) as string;
