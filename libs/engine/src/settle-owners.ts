import type {
  AffectedSession,
  AffectedStaticRule,
  LedgerRow,
  Lease,
  SettlementOwnersStore,
} from '#engine-store';
import { AuditTrail, SYSTEM_ACTOR, type AuditEntry, type AuditEventType, type Tx } from '#entities';
import {
  grouped,
  heldStatuses,
  overallStatus,
  sessionStatus,
  type OrganizationId,
  type SessionStatus,
  type StaticIpRuleStatus,
} from '#rules';

const audit = new AuditTrail();

/** Updates sessions from the statuses of their ResourceIps. */
export async function writeSessions(
  tx: Tx,
  owners: SettlementOwnersStore,
  sessionIds: readonly string[],
): Promise<void> {
  if (sessionIds.length === 0) return;
  const sessions = await owners.sessions(tx, sessionIds);
  const moves = sessions
    .map((session) => ({
      session,
      to: sessionStatus(session.status, heldStatuses(session.ips), session.endedReason, session.isSuspended),
    }))
    .filter(({ session, to }) => to !== session.status);
  if (moves.length === 0) return;
  const written = new Set(
    await owners.moveSessions(
      tx,
      moves.map(({ session, to }) => ({ id: session.id, from: session.status, to })),
    ),
  );
  const records = moves
    .filter(({ session }) => written.has(session.id))
    .map(({ session, to }) => [session.organizationId, sessionMoved(session, to)] as const);
  await writeRecords(tx, records);
}

/** Audits static IP rules that are no longer PENDING. */
export async function auditStaticRules(
  tx: Tx,
  owners: SettlementOwnersStore,
  ids: readonly string[],
): Promise<void> {
  if (ids.length === 0) return;
  const records = (await owners.staticRules(tx, ids)).flatMap((rule) => {
    const status = rule.statuses.length === 0 ? 'PENDING' : overallStatus(rule.statuses);
    return status === 'PENDING' ? [] : [[rule.organizationId, staticRuleSettled(rule, status)] as const];
  });
  await writeRecords(tx, records);
}

/** Audits the removal of orphans and stale rules, for the organizations with write-verified resources on the target. */
export async function auditUnheld(
  tx: Tx,
  owners: SettlementOwnersStore,
  lease: Lease,
  recorded: readonly LedgerRow[],
): Promise<void> {
  const gone = recorded.filter(({ kind, organizationId }) => kind === 'CLOSED' && organizationId === null);
  if (gone.length === 0) return;
  const details = {
    rules: gone.map(({ address, protocol, ports }) => `${address} ${protocol} ${ports}`),
    causes: [...new Set(gone.map(({ cause }) => cause))],
  };
  const resources = await owners.writeVerifiedResources(tx, lease.targetId);
  await writeRecords(
    tx,
    resources.map(({ id, organizationId, name }) => [
      organizationId,
      {
        ...SYSTEM_ACTOR,
        eventType: 'RULE_ORPHAN_REMOVED',
        resourceType: 'RESOURCE',
        resourceId: id,
        resourceName: name,
        details,
      },
    ]),
  );
}

async function writeRecords(
  tx: Tx,
  records: readonly (readonly [OrganizationId, AuditEntry])[],
): Promise<void> {
  for (const [organization, entries] of grouped(records, ([owner]) => owner)) {
    await audit.write(tx, organization, ...entries.map(([, entry]) => entry));
  }
}

const SESSION_EVENTS: Partial<Record<SessionStatus, AuditEventType>> = {
  ACTIVE: 'SESSION_ACTIVATED',
  PARTIAL: 'SESSION_ACTIVATED',
  EXPIRED: 'SESSION_EXPIRED',
  CANCELLED: 'SESSION_CANCELLED',
};

/** Audit entry of a static IP rule that is no longer PENDING. */
function staticRuleSettled(rule: AffectedStaticRule, status: StaticIpRuleStatus): AuditEntry {
  return {
    ...SYSTEM_ACTOR,
    eventType: status === 'ACTIVE' ? 'STATIC_IP_RULE_APPLIED' : 'STATIC_IP_RULE_FAILED',
    resourceType: 'STATIC_IP_RULE',
    resourceId: rule.id,
    resourceName: rule.label,
    result: status === 'ACTIVE' ? 'SUCCESS' : 'FAILURE',
    details: { ipAddress: rule.ipAddress, status },
  };
}

/** Audit entry of a session's status change. A change to PARTIAL from another status than PENDING is a failure. */
export function sessionMoved(session: AffectedSession, to: SessionStatus): AuditEntry {
  const lost = to === 'FAILED' || (to === 'PARTIAL' && session.status !== 'PENDING');
  return {
    ...SYSTEM_ACTOR,
    eventType: lost ? 'SESSION_FAILED' : SESSION_EVENTS[to]!,
    resourceType: 'SESSION',
    resourceId: session.id,
    resourceName: session.userEmail,
    result: lost ? 'FAILURE' : 'SUCCESS',
    errorMessage: lost ? session.errorMessage : null,
    details: {
      userId: session.userId,
      from: session.status,
      to,
      ...(to === 'EXPIRED' && session.leaseLost ? { leaseLost: true } : {}),
    },
  };
}
