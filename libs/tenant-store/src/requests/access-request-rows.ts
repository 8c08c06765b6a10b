import type { NamedRole } from '#rules';
import type { AccessDecision, AccessRequestEntity } from '#entities';

interface AccessDecisionRow {
  readonly userId: string;
  readonly userEmail: string;
  readonly decision: AccessDecision;
  readonly note: string | null;
  /** ISO 8601 */
  readonly decidedAt: string;
}

export interface AccessRequestRow extends Readonly<
  Omit<AccessRequestEntity, 'organizationId' | 'requesterId' | 'resourceIds' | 'approverRoleIds'>
> {
  readonly userId: string;
  readonly userName: string;
  readonly userEmail: string;
  readonly resources: { readonly id: string; readonly name: string }[];
  /** of the resources of an open request: those that the user could not start a session on now */
  readonly unavailableResourceIds: string[];
  /** whose members decide; empty: administrators */
  readonly approverRoles: NamedRole[];
  readonly decisions: AccessDecisionRow[];
  /** sessions that the user started with approval, or without, in the 30 days before */
  readonly usedBefore: number;
  /** whether its reader may decide now */
  readonly mayDecide: boolean;
}

export type NewAccessRequest = Pick<
  AccessRequestEntity,
  | 'requesterId'
  | 'resourceIds'
  | 'durationHours'
  | 'reason'
  | 'ticket'
  | 'ipv4Address'
  | 'ipv6Address'
  | 'approvalsNeeded'
  | 'approverRoleIds'
>;

/** SQL: the request of `create` that waits already. */
export const SAME = `SELECT id FROM access_requests WHERE organization_id = $1 AND requester_id = $2 AND resource_ids = $3
    AND duration_hours = $4 AND reason = $5 AND ticket IS NOT DISTINCT FROM $6 AND ipv4_address IS NOT DISTINCT FROM $7
    AND ipv6_address IS NOT DISTINCT FROM $8 AND approvals_needed = $9 AND approver_role_ids = $10
    AND status = 'WAITING' AND due_at > now()`;
