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
  /** whose members decide; empty: administrators */
  readonly approverRoles: NamedRole[];
  readonly decisions: AccessDecisionRow[];
  /** sessions that the user started with approval, or without, in the 30 days before */
  readonly usedBefore: number;
  /** whether its reader may decide now */
  readonly mayDecide: boolean;
}
