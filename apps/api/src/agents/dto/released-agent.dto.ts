import { ApiProperty } from '@nestjs/swagger';

export class ReleasedAgentDto {
  @ApiProperty({ example: 'db-host-1' }) name!: string;
  @ApiProperty({
    format: 'date-time',
    example: '2026-01-31T10:30:00.000Z',
    description: 'Until then, unless another key or installation takes the name over before',
  })
  releasedUntil!: string;
}
