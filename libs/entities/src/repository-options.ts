/** `lock` of `find…` inside a transaction: other writers wait, foreign keys to the row do not. */
export const FOR_NO_KEY_UPDATE = { mode: 'for_no_key_update' } as const;
