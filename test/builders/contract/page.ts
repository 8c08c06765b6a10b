/** A list response in the shape of a Page. */
export interface Page<Item> {
  readonly content: Item[];
  readonly totalElements: number;
  readonly totalPages: number;
  readonly number: number;
  readonly size: number;
  readonly first: boolean;
  readonly last: boolean;
  readonly numberOfElements: number;
}

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
