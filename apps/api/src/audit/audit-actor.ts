import type { AuditActor } from '#entities';
import type { Actor } from '../http/actor';

/** The actor of an audit record. For an API key: the key's id and its user's e-mail. For a workload: its service user. */
export const auditActor = ({ principal, address }: Actor): AuditActor => ({
  actorType: principal.kind === 'key' ? 'API_KEY' : 'USER',
  actorId: principal.keyId ?? principal.userId,
  actorEmail: principal.email,
  ipAddress: address?.text ?? null,
});
