import { ApiPropertyOptional } from '@nestjs/swagger';
import { AUDIT_EVENT_TYPES, type AuditEventType } from '#entities';
import { Transform } from 'class-transformer';
import { IsEmail, IsIn, IsISO8601, IsOptional, IsUUID, Matches } from 'class-validator';
import { PagedQueryDto } from '../../http/page.dto';
import { asEmail } from '../../http/text-fields';

const MOMENT = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d))?$/;
const MOMENT_WORDS =
  'must be an ISO 8601 time, e.g. 2026-01-31T09:30:00Z or 2026-01-31 (a + of an offset is sent as %2B)';

/** A time that says where it is in the world, or a day in UTC. */
function Moment(description: string): PropertyDecorator {
  const checks = [
    ApiPropertyOptional({ description, example: '2026-01-31T09:30:00Z' }),
    IsOptional(),
    IsISO8601({ strict: true }, { message: MOMENT_WORDS }),
    Matches(MOMENT, { message: MOMENT_WORDS }),
  ];
  return (target, property) => {
    for (const check of checks) check(target, property);
  };
}

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

  @ApiPropertyOptional({ example: 'ada@example.com', description: 'Who did it' })
  @IsOptional()
  @asEmail()
  @IsEmail({}, { message: 'must be a well-formed e-mail address' })
  actorEmail?: string;

  @ApiPropertyOptional({
    format: 'uuid',
    description: 'What it was done to: a session, a resource, a user …',
  })
  @IsOptional()
  @IsUUID(undefined, { message: 'must be a UUID' })
  resourceId?: string;

  @Moment('Not before')
  from?: string;

  @Moment('Not after')
  to?: string;
}
