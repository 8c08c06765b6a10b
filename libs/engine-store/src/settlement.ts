import type {
  AdditionCause,
  EndedReason,
  OrganizationId,
  RemovalCause,
  ResourceIpStatus,
  RuleState,
  SessionStatus,
} from '#rules';
import type { Access } from './convergence.store';

/** What a pass settled for one rule, to be written under the lease it was found in. */
export interface RuleSettlement {
  readonly ruleId: string;
  /** the rule's revision when it was read: changed since, it stays due */
  readonly revision: number;
  /** null: as it was */
  readonly state: RuleState | null;
  /** observed present in this pass */
  readonly stands: boolean;
  /** present as recorded when this pass began, before it changed anything */
  readonly stoodBefore: boolean;
  readonly providerRuleId: string | null;
  /** null: as it was */
  readonly isUnmanaged: boolean | null;
  /** ours by its provider id alone; null: as it was */
  readonly isUnmarked: boolean | null;
  readonly attempts: number;
  /** another pass follows after so many ms; null: settled */
  readonly dueInMs: number | null;
  /** the outcome of a call is still unknown */
  readonly inFlight: boolean;
  readonly message: string | null;
  /** the way it was written led to no target; null: as it was */
  readonly targetMissing: boolean | null;
  /** adding it is given up for those who wait for it */
  readonly failed: boolean;
  /** it is to be removed, for this cause; null: it is desired */
  readonly unwanted: RemovalCause | null;
  /** why it would be added */
  readonly addCause: AdditionCause;
  /** nobody goes the way it was written any more: from now on it is removed this way; null: as it was */
  readonly adopt: Access | null;
}

/** How old the readings are that a settlement rests on, ms. */
export interface Reading {
  readonly startedAgoMs: number;
  /** of the pass's first read, before it changed anything */
  readonly firstStartedAgoMs: number;
  readonly endedAgoMs: number;
}

/** A rule before and after it was written. */
export interface WrittenRule {
  readonly ruleId: string;
  /** it was observed present since it was last absent */
  readonly wasPresent: boolean;
  /** it may have been present since */
  readonly wasPossible: boolean;
  readonly wasMissing: boolean;
  readonly wasUnmarked: boolean;
  readonly wasUnmanaged: boolean;
  readonly lastError: string | null;
  readonly state: RuleState;
  readonly isUnmanaged: boolean;
  readonly cause: RemovalCause | null;
}

/** A ResourceIp that a settlement may move. */
export interface AffectedIp {
  readonly id: string;
  readonly organizationId: OrganizationId;
  readonly sessionId: string | null;
  readonly staticIpRuleId: string | null;
  readonly status: ResourceIpStatus;
  /** it has waited for so long that what is still missing is given up */
  readonly overdue: boolean;
}

/** A holder of a rule that an affected ResourceIp holds. */
export interface AffectedHolder {
  readonly ruleId: string;
  readonly resourceIpId: string;
  readonly status: ResourceIpStatus;
  readonly organizationId: string;
  readonly writeVerified: boolean;
  /** its ResourceIp goes on elsewhere */
  readonly isDetached: boolean;
  /** it wants the rule */
  readonly isLive: boolean;
  /** it waits for this pass, as it did when the pass began */
  readonly waits: boolean;
}

export interface AffectedRule {
  readonly ruleId: string;
  readonly key: string;
  /** one that is due and was not part of this pass may be gone by now: `unknown` */
  readonly state: RuleState;
  readonly isUnmanaged: boolean;
  readonly writerOrganizationId: string | null;
  readonly providerRuleId: string | null;
  readonly lastError: string | null;
}

/** All that a settlement may move, and on what that depends. */
export interface Affected {
  readonly ips: AffectedIp[];
  readonly holders: AffectedHolder[];
  readonly rules: AffectedRule[];
}

/** A move of a ResourceIp. */
export interface IpMove {
  readonly id: string;
  readonly from: ResourceIpStatus;
  readonly to: ResourceIpStatus;
  readonly errorMessage: string | null;
  readonly providerRuleId: string | null;
}

/** A session whose addresses a settlement moved. */
export interface AffectedSession {
  readonly id: string;
  readonly organizationId: OrganizationId;
  readonly status: SessionStatus;
  readonly endedReason: EndedReason | null;
  readonly userId: string;
  readonly userEmail: string;
  /** of one of its addresses, when there is one */
  readonly errorMessage: string | null;
  readonly statuses: ResourceIpStatus[];
  /** one of its addresses waits until another program leaves its rule alone */
  readonly isSuspended: boolean;
}

/** A static IP rule whose entries a settlement moved. */
export interface AffectedStaticRule {
  readonly id: string;
  readonly organizationId: OrganizationId;
  readonly label: string;
  readonly ipAddress: string;
  readonly statuses: ResourceIpStatus[];
}
