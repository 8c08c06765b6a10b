/** A list that is answered as a Page. */
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

/** Its fields, by name. */
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
