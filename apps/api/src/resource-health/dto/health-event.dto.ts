import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { HEALTH_EVENT_TYPES, type HealthEventType } from '#entities';
import { IsOptional, IsUUID } from 'class-validator';
import { PageDto, PagedQueryDto } from '../../http/page.dto';

export class HealthEventQueryDto extends PagedQueryDto {
  @ApiPropertyOptional({ format: 'uuid', description: 'Only events of this resource' })
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
    description: 'VERIFY: whether the target could be read; RECONCILE: whether it has the desired rules',
  })
  eventType!: HealthEventType;
  @ApiProperty({ type: String, nullable: true, description: 'the failure; null for a success' })
  message!: string | null;
  @ApiProperty({ format: 'date-time', example: '2026-01-31T09:30:00.000Z' }) createdAt!: string;
}

export class HealthEventPageDto extends PageDto {
  @ApiProperty({ type: [HealthEventDto] }) content!: HealthEventDto[];
}
