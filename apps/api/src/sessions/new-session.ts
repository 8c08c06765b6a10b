import type { AuditEntry } from '#entities';
import type { GrantRow, NewSession } from '#tenant-store';
import type { Principal } from '#guards';
import { auditActor } from '../audit/audit-actor';
import type { Actor } from '../http/actor';
import type { CompletedStart, GivenPermission } from './session-permission';
import { newResourceIps, type PlannedSession } from './session-plan';

/** The session as it is stored, and as its guard judges it. */
export const newSession = (
  { userId, keyId }: Principal,
  asked: CompletedStart,
  planned: PlannedSession,
  permission: GivenPermission,
): Omit<NewSession, 'id' | 'tokenHash' | 'permission'> & { readonly permission: GivenPermission } => ({
  userId,
  apiKeyId: keyId,
  holder: asked.holder ?? '',
  ipv4Address: planned.addresses.ipv4,
  ipv6Address: planned.addresses.ipv6,
  hours: planned.hours,
  leaseSeconds: asked.leaseSeconds ?? null,
  replaced: planned.replaced,
  reason: asked.reason,
  ticket: asked.ticket,
  permission,
  holders: newResourceIps(planned.opened, planned.grants),
  limits: planned.limits,
});

/** Its start, and without approval a second one, which others are notified of. */
export function startedEntries(
  actor: Actor,
  session: NewSession & { readonly permission: GivenPermission },
  grants: readonly GrantRow[],
  { addressDiffers, replaces }: { addressDiffers: boolean; replaces: string | undefined },
): readonly [AuditEntry, ...AuditEntry[]] {
  const { principal } = actor;
  const { accessRequestId, approvers, brokenBy } = session.permission;
  const started: AuditEntry = {
    ...auditActor(actor),
    eventType: 'SESSION_STARTED',
    resourceType: 'SESSION',
    resourceId: session.id,
    resourceName: principal.email,
    details: {
      ipv4Address: session.ipv4Address,
      ipv6Address: session.ipv6Address,
      durationHours: session.hours,
      resources: grants.map(({ resourceId, resourceName }) => ({ id: resourceId, name: resourceName })),
      ...(principal.keyName === null ? {} : { apiKey: principal.keyName }),
      ...(addressDiffers ? { addressDiffersFromCaller: true } : {}),
      ...(replaces === undefined ? {} : { replaces }),
      ...(session.reason === null ? {} : { reason: session.reason }),
      ...(session.ticket === null ? {} : { ticket: session.ticket }),
      ...(accessRequestId === null ? {} : { accessRequestId }),
      ...(approvers.length === 0 ? {} : { approvers }),
    },
  };
  if (brokenBy === null) return [started];
  const about = { resourceType: 'ACCESS_REQUEST', resourceId: accessRequestId };
  return [
    started,
    {
      ...started,
      ...about,
      eventType: 'BREAK_GLASS_STARTED',
      details: { ...started.details, sessionId: session.id },
    },
  ];
}
