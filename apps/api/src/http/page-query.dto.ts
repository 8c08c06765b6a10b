import { ApiPropertyOptional } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import { IsInt, Max, Min } from 'class-validator';

/** Keeps the offset within the range of the database's integers. */
export const LAST_PAGE = 1_000_000_000;

/** Pagination of a list. */
export class PageQueryDto {
  @ApiPropertyOptional({ type: 'integer', minimum: 0, default: 0, description: 'counted from 0' })
  @Type(() => Number)
  @Min(0, { message: 'must be 0 or more' })
  @Max(LAST_PAGE, { message: `must be at most ${LAST_PAGE}` })
  @IsInt({ message: 'must be a whole number' })
  page = 0;

  @ApiPropertyOptional({
    type: 'integer',
    minimum: 1,
    maximum: 100,
    default: 100,
    description: 'items a page',
  })
  @Type(() => Number)
  @Min(1, { message: 'must be at least 1' })
  @Max(100, { message: 'must be at most 100' })
  @IsInt({ message: 'must be a whole number' })
  size = 100;
}
