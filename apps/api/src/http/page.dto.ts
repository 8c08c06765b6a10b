import { ApiProperty } from '@nestjs/swagger';
import type { Slice } from '#entities';
import { Optional } from './fields';
import { PageQueryDto, SIZE } from './page-query.dto';

/** Pagination of a list that is returned as a page object. */
export class PagedQueryDto extends PageQueryDto {
  @Optional(SIZE, { default: 20, description: 'items a page' })
  override size = 20;
}

/** The fields of a page object besides its content. */
export class PageDto {
  @ApiProperty({ type: 'integer', example: 42, description: 'items on all pages' }) totalElements!: number;
  @ApiProperty({ type: 'integer', example: 3 }) totalPages!: number;
  @ApiProperty({ type: 'integer', example: 0, description: 'this page, counted from 0' }) number!: number;
  @ApiProperty({ type: 'integer', example: 20, description: 'items a page' }) size!: number;
  @ApiProperty({ example: true, description: 'whether this is the first page' }) first!: boolean;
  @ApiProperty({ example: false, description: 'whether no page follows' }) last!: boolean;
  @ApiProperty({ type: 'integer', example: 20, description: 'items on this page' })
  numberOfElements!: number;
}

/** Creates a page object. */
export function pageOf<Item>(
  content: Item[],
  total: number,
  { page, size }: Slice,
): PageDto & { content: Item[] } {
  const totalPages = Math.ceil(total / size);
  return {
    content,
    totalElements: total,
    totalPages,
    number: page,
    size,
    first: page === 0,
    last: page + 1 >= totalPages,
    numberOfElements: content.length,
  };
}
