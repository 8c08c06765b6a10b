import { IsInt, Max, Min } from 'class-validator';
import { inQuery, Optional, wholeNumber, type Kind } from './fields';

/** Keeps the offset within the range of the database's integers. */
const LAST_PAGE = 1_000_000_000;

/** A page, counted from 0. */
export const PAGE: Kind = inQuery({
  checks: [
    IsInt({ message: 'must be a whole number' }),
    Max(LAST_PAGE, { message: `must be at most ${LAST_PAGE}` }),
    Min(0, { message: 'must be 0 or more' }),
  ],
  doc: { type: 'integer', minimum: 0 },
});

/** The items on a page. */
export const SIZE: Kind = inQuery(wholeNumber(1, 100));

/** Pagination of a list. */
export class PageQueryDto {
  @Optional(PAGE, { default: 0, description: 'counted from 0' })
  page = 0;

  @Optional(SIZE, { default: 100, description: 'items a page' })
  size = 100;
}
