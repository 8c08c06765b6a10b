import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, IsOptional, IsString, IsUUID, MaxLength } from 'class-validator';
import { Moment } from '../../http/moment-field';
import { asId } from '../../http/text-fields';

const REPORT_FORMATS = ['json', 'csv'] as const;
export type ReportFormat = (typeof REPORT_FORMATS)[number];

export class AccessQueryDto {
  @ApiPropertyOptional({ format: 'uuid', description: 'Access to this resource' })
  @IsOptional()
  @asId()
  @IsUUID(undefined, { message: 'must be a UUID' })
  resourceId?: string;

  @ApiPropertyOptional({ format: 'uuid', description: 'Access of this user' })
  @IsOptional()
  @asId()
  @IsUUID(undefined, { message: 'must be a UUID' })
  userId?: string;

  @ApiPropertyOptional({
    example: '203.0.113.10',
    description: 'Access of this address or of exactly this CIDR range',
  })
  @IsOptional()
  @MaxLength(100, { message: 'must have at most 100 characters' })
  @IsString({ message: 'must be an IP address or a CIDR range' })
  address?: string;

  @Moment('At this point in time; instead of from and to')
  at?: string;

  @Moment('From this time on, with to')
  from?: string;

  @Moment('Until this time, at most 400 days after from')
  to?: string;

  @ApiPropertyOptional({ enum: REPORT_FORMATS, default: 'json' })
  @IsIn(REPORT_FORMATS, { message: `must be one of ${REPORT_FORMATS.join(', ')}` })
  format: ReportFormat = 'json';
}
