import { ApiProperty } from '@nestjs/swagger';
import { ACTOR_TYPES, AUDIT_EVENT_TYPES, type ActorType, type AuditEventType } from '#entities';
import { ID_OR_NULL, TEXT_OR_NULL } from '../../http/nullable';
import { PageDto } from '../../http/page.dto';

export class AuditRecordDto {
  @ApiProperty({ format: 'uuid' }) id!: string;
  @ApiProperty({ enum: AUDIT_EVENT_TYPES, enumName: 'AuditEventType', example: 'SESSION_STOPPED' })
  eventType!: AuditEventType;
  @ApiProperty({ format: 'date-time', example: '2026-01-31T09:30:00.000Z' }) timestamp!: Date;
  @ApiProperty({ enum: ACTOR_TYPES, description: 'SYSTEM: the service itself' }) actorType!: ActorType;
  @ApiProperty({ ...ID_OR_NULL, description: 'id of the user, the API key or the agent' })
  actorId!: string | null;
  @ApiProperty({
    ...TEXT_OR_NULL,
    example: 'ada@example.com',
    description: 'of the user, or of the API key’s user',
  })
  actorEmail!: string | null;
  @ApiProperty({ ...TEXT_OR_NULL, example: 'SESSION', description: 'type of the object of the action' })
  resourceType!: string | null;
  @ApiProperty(ID_OR_NULL) resourceId!: string | null;
  @ApiProperty({
    ...TEXT_OR_NULL,
    example: 'grace@example.com',
    description: 'the object’s name at that time; for a session, the e-mail address of its user',
  })
  resourceName!: string | null;
  @ApiProperty({ enum: ['SUCCESS', 'FAILURE'], description: 'FAILURE: the action was attempted' })
  result!: 'SUCCESS' | 'FAILURE';
  @ApiProperty({ ...TEXT_OR_NULL, example: '203.0.113.7', description: 'of the caller' })
  ipAddress!: string | null;
  @ApiProperty({ ...TEXT_OR_NULL, description: 'the reason of a failure' })
  errorMessage!: string | null;
  @ApiProperty({
    type: 'object',
    additionalProperties: true,
    example: { reason: 'ADMIN' },
    description: 'further details; the fields depend on the event type',
  })
  details!: Readonly<Record<string, unknown>>;
}

export class AuditPageDto extends PageDto {
  @ApiProperty({ type: [AuditRecordDto] }) content!: AuditRecordDto[];
}
