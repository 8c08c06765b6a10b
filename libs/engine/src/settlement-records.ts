import type { AffectedSession, AffectedStaticRule } from '#engine-store';
import type { SessionStatus, StaticIpRuleStatus } from '#rules';
import { type AuditEntry, type AuditEventType, SYSTEM_ACTOR } from '#entities';

const SESSION_EVENTS: Partial<Record<SessionStatus, AuditEventType>> = {
  ACTIVE: 'SESSION_ACTIVATED',
  PARTIAL: 'SESSION_ACTIVATED',
  EXPIRED: 'SESSION_EXPIRED',
  CANCELLED: 'SESSION_CANCELLED',
};

/** Audit entry of a static IP rule that is no longer PENDING. */
export function staticRuleSettled(rule: AffectedStaticRule, status: StaticIpRuleStatus): AuditEntry {
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
