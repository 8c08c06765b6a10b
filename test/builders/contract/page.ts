import type { Schemas } from '#client';

/** A list response in the shape of a Page. */
export type Page<Item> = Omit<Schemas['AuditPageDto'], 'content'> & { readonly content: Item[] };

/** The names of its fields. */
export const PAGE_FIELDS = [
  'content',
  'first',
  'last',
  'number',
  'numberOfElements',
  'size',
  'totalElements',
  'totalPages',
];
