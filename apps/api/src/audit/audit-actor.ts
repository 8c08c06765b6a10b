import type { AuditActor } from '#entities';
import type { Principal } from '#guards';

/** Who did it, for the audit trail: a key's deeds name the key, with its user's e-mail. */
export function auditActor(principal: Principal, callerAddress: string | null): AuditActor {
  return {
    actorType: principal.kind === 'key' ? 'API_KEY' : 'USER',
    actorId: principal.keyId ?? principal.userId,
    actorEmail: principal.email,
    ipAddress: callerAddress,
  };
}
