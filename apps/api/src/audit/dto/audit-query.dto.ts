import { ACTOR_TYPES, type ActorType, AUDIT_EVENT_TYPES, type AuditEventType } from '#entities';
import { anyOf, id, moment, oneOf, Optional } from '../../http/fields';
import { ADDRESS } from '../../http/list-query.dto';
import { PagedQueryDto } from '../../http/page.dto';
import { KNOWN_EMAIL } from '../../auth/dto/credentials.dto';

export class AuditQueryDto extends PagedQueryDto {
  @Optional(anyOf(AUDIT_EVENT_TYPES, 'AuditEventType'), { description: 'May be repeated: any of them' })
  eventType?: AuditEventType[];

  @Optional(KNOWN_EMAIL, { description: 'The actor' })
  actorEmail?: string;

  @Optional(id(), { description: 'The object of the action: a session, a resource, a user …' })
  resourceId?: string;

  @Optional(id(), { description: 'The user who acted or was acted on; only administrators name another one' })
  userId?: string;

  @Optional(oneOf(['SUCCESS', 'FAILURE']), { description: 'Needs from, at most 31 days ago' })
  result?: 'SUCCESS' | 'FAILURE';

  @Optional(anyOf(ACTOR_TYPES), { description: 'May be repeated. Needs from, as result' })
  actorType?: ActorType[];

  @Optional(ADDRESS, { description: 'The address of the actor. Needs from, as result' })
  ipAddress?: string;

  @Optional(moment(), { description: 'Not before' })
  from?: string;

  @Optional(moment(), { description: 'Not after' })
  to?: string;
}
