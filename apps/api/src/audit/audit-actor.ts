import type { ActorType, AuditActor } from '#entities';
import type { Principal } from '#guards';
import type { Actor } from '../http/actor';

const ACTOR_TYPES: Readonly<Record<Principal['kind'], ActorType>> = {
  user: 'USER',
  key: 'API_KEY',
  workload: 'USER',
  session: 'SESSION',
};

/**
 * The actor of an audit record. For an API key: the key's id and its user's e-mail. For a workload: its service user. For
 * a session's token: the session's id and its user's e-mail.
 */
export const auditActor = ({ principal, address }: Pick<Actor, 'principal' | 'address'>): AuditActor => ({
  actorType: ACTOR_TYPES[principal.kind],
  actorId: principal.keyId ?? principal.sessionId ?? principal.userId,
  actorEmail: principal.email,
  ipAddress: address?.text ?? null,
});
