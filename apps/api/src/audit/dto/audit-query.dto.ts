import { ApiPropertyOptional } from '@nestjs/swagger';
import { AUDIT_EVENT_TYPES, type AuditEventType } from '#entities';
import { Transform } from 'class-transformer';
import { IsEmail, IsIn, IsOptional, IsUUID } from 'class-validator';
import { Moment } from '../../http/moment-field';
import { PagedQueryDto } from '../../http/page.dto';
import { asEmail } from '../../http/text-fields';

export class AuditQueryDto extends PagedQueryDto {
  @ApiPropertyOptional({
    enum: AUDIT_EVENT_TYPES,
    enumName: 'AuditEventType',
    isArray: true,
    description: 'May be repeated: any of them',
  })
  @IsOptional()
  @Transform(({ value }: { value: unknown }) => (Array.isArray(value) ? (value as unknown[]) : [value]))
  @IsIn(AUDIT_EVENT_TYPES, { each: true, message: `must be one of ${AUDIT_EVENT_TYPES.join(', ')}` })
  eventType?: AuditEventType[];

  @ApiPropertyOptional({ example: 'ada@example.com', description: 'The actor' })
  @IsOptional()
  @asEmail()
  @IsEmail({}, { message: 'must be a well-formed e-mail address' })
  actorEmail?: string;

  @ApiPropertyOptional({
    format: 'uuid',
    description: 'The object of the action: a session, a resource, a user …',
  })
  @IsOptional()
  @IsUUID(undefined, { message: 'must be a UUID' })
  resourceId?: string;

  @Moment('Not before')
  from?: string;

  @Moment('Not after')
  to?: string;
}
