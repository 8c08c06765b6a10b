import type {
  EndedReason,
  OrganizationId,
  ResourceIpStatus,
  SessionStatus,
  StaticIpRuleStatus,
} from '#rules';
import type { AuditEventType } from './audit-record.entity';
import { SYSTEM_ACTOR, type AuditEntry } from './audit.store';

/** A session whose addresses a settlement moved. */
export interface AffectedSession {
  id: string;
  organizationId: OrganizationId;
  status: SessionStatus;
  endedReason: EndedReason | null;
  userId: string;
  userEmail: string;
  /** of one of its addresses, when there is one */
  errorMessage: string | null;
  statuses: ResourceIpStatus[];
}

/** A static IP rule whose entries a settlement moved. */
export interface AffectedStaticRule {
  id: string;
  organizationId: OrganizationId;
  label: string;
  ipAddress: string;
  statuses: ResourceIpStatus[];
}

const SESSION_EVENTS: Partial<Record<SessionStatus, AuditEventType>> = {
  ACTIVE: 'SESSION_ACTIVATED',
  PARTIAL: 'SESSION_ACTIVATED',
  EXPIRED: 'SESSION_EXPIRED',
  CANCELLED: 'SESSION_CANCELLED',
};

/** What the audit trail keeps of a static IP rule that waits for nothing any more. */
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

/** What the audit trail keeps of a session's move: one that was ACTIVE and is PARTIAL has lost something. */
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
    details: { userId: session.userId, from: session.status, to },
  };
}
