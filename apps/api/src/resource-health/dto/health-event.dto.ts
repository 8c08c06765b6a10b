import { ApiProperty } from '@nestjs/swagger';
import { HEALTH_EVENT_TYPES, type HealthEventType } from '#entities';
import { anyOf, id, Optional } from '../../http/fields';
import { TEXT_OR_NULL } from '../../http/nullable';
import { PageDto, PagedQueryDto } from '../../http/page.dto';

export class HealthEventQueryDto extends PagedQueryDto {
  @Optional(id(), { description: 'Only events of this resource' })
  resourceId?: string;

  @Optional(anyOf(HEALTH_EVENT_TYPES), { description: 'May be repeated: any of them' })
  eventType?: HealthEventType[];
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
  @ApiProperty({ ...TEXT_OR_NULL, description: 'the failure; null for a success' }) message!: string | null;
  @ApiProperty({ format: 'date-time', example: '2026-01-31T09:30:00.000Z' }) createdAt!: Date;
}

export class HealthEventPageDto extends PageDto {
  @ApiProperty({ type: [HealthEventDto] }) content!: HealthEventDto[];
}
