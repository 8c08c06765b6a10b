import { AUDIT_EVENT_TYPES, type AuditEventType } from '#entities';
import { anyOf, id, moment, Optional } from '../../http/fields';
import { PagedQueryDto } from '../../http/page.dto';
import { KNOWN_EMAIL } from '../../auth/dto/credentials.dto';

export class AuditQueryDto extends PagedQueryDto {
  @Optional(anyOf(AUDIT_EVENT_TYPES, 'AuditEventType'), { description: 'May be repeated: any of them' })
  eventType?: AuditEventType[];

  @Optional(KNOWN_EMAIL, { description: 'The actor' })
  actorEmail?: string;

  @Optional(id(), { description: 'The object of the action: a session, a resource, a user …' })
  resourceId?: string;

  @Optional(moment(), { description: 'Not before' })
  from?: string;

  @Optional(moment(), { description: 'Not after' })
  to?: string;
}
