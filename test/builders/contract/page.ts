import type { Schemas } from '#client';

/** A list response in the shape of a Page. */
export type Page<Item> = Omit<Schemas['AuditPageDto'], 'content'> & { readonly content: Item[] };
