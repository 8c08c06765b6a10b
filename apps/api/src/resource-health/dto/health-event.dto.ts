import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { HEALTH_EVENT_TYPES, type HealthEventType } from '#entities';
import { IsOptional, IsUUID } from 'class-validator';
import { PageDto, PagedQueryDto } from '../../http/page.dto';

export class HealthEventQueryDto extends PagedQueryDto {
  @ApiPropertyOptional({ format: 'uuid', description: 'Only this resource’s' })
  @IsOptional()
  @IsUUID(undefined, { message: 'must be a UUID' })
  resourceId?: string;
}

export class HealthEventDto {
  @ApiProperty({ format: 'uuid' }) id!: string;
  @ApiProperty({ format: 'uuid' }) resourceId!: string;
  @ApiProperty({ example: 'staging-database' }) resourceName!: string;
  @ApiProperty({
    enum: HEALTH_EVENT_TYPES,
    description: 'VERIFY: whether it could be read; RECONCILE: whether it holds the rules it should',
  })
  eventType!: HealthEventType;
  @ApiProperty({ type: String, nullable: true, description: 'what went wrong; null when nothing did' })
  message!: string | null;
  @ApiProperty({ format: 'date-time', example: '2026-01-31T09:30:00.000Z' }) createdAt!: string;
}

export class HealthEventPageDto extends PageDto {
  @ApiProperty({ type: [HealthEventDto] }) content!: HealthEventDto[];
}
