import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { ID_OR_NULL } from './nullable';

/** Objects of one request. */
export const MOST_IN_BULK = 100;

const BULK_OUTCOMES = ['DONE', 'UNCHANGED', 'REFUSED'] as const;
export type BulkOutcome = (typeof BULK_OUTCOMES)[number];

export class BulkResultDto {
  @ApiProperty({ ...ID_OR_NULL, description: 'null: nothing was made' }) id!: string | null;
  @ApiProperty({
    enum: BULK_OUTCOMES,
    enumName: 'BulkOutcome',
    description:
      'UNCHANGED: it was so before; REFUSED: as a request for it alone, with its status and message',
  })
  outcome!: BulkOutcome;
  @ApiPropertyOptional({ type: 'integer', example: 404 }) status?: number;
  @ApiPropertyOptional({ example: 'Session 7e57… does not exist' }) message?: string;
}

export class BulkResultsDto {
  @ApiProperty({ type: [BulkResultDto], description: 'In the order asked, each object once' })
  results!: BulkResultDto[];
}
