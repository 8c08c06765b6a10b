/** Which page of a list, counted from 0, and how many rows a page has. */
export interface Slice {
  readonly page: number;
  readonly size: number;
}
