import type { StopRequest } from '#tenant-store';
import { auditActor } from '../audit/audit-actor';
import type { Actor } from '../http/actor';

/** A caller's wish to end a session: an administrator's any, else one of the caller's own. */
export const stopRequest = (actor: Actor, id: string, reason: StopRequest['reason']): StopRequest => ({
  id,
  reason,
  userId: reason === 'ADMIN' ? null : actor.principal.userId,
  audit: {
    ...auditActor(actor),
    eventType: 'SESSION_STOPPED',
    resourceType: 'SESSION',
    resourceId: null,
    resourceName: null,
  },
});
