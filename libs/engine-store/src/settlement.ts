import type {
  EndedReason,
  FamilyIp,
  OrganizationId,
  RemovalCause,
  ResourceIpStatus,
  RuleState,
  SessionStatus,
} from '#rules';

/** Age of the reads a settlement is based on, ms. */
export interface Reading {
  readonly startedAgoMs: number;
  /** of the first read of the pass, before its changes */
  readonly firstStartedAgoMs: number;
  readonly endedAgoMs: number;
}

/** A rule before and after its settlement was written. */
export interface WrittenRule {
  readonly ruleId: string;
  /** observed present since it was last absent */
  readonly wasPresent: boolean;
  /** possibly present since it was last absent */
  readonly mayHaveBeenPresent: boolean;
  readonly wasMissing: boolean;
  readonly wasUnmarked: boolean;
  readonly wasUnmanaged: boolean;
  readonly lastError: string | null;
  readonly state: RuleState;
  readonly isUnmanaged: boolean;
  readonly cause: RemovalCause | null;
}

/** A ResourceIp that a settlement may move. */
interface AffectedIp {
  readonly id: string;
  readonly organizationId: OrganizationId;
  readonly sessionId: string | null;
  readonly staticIpRuleId: string | null;
  readonly status: ResourceIpStatus;
  /** PENDING for so long that its missing rules are given up */
  readonly timedOut: boolean;
  /** for people: a rule of it was given up, and why; null: none was */
  readonly givenUp: string | null;
  readonly errorMessage: string | null;
}

/** A holder of a rule of an affected ResourceIp. */
export interface AffectedHolder {
  readonly ruleId: string;
  readonly resourceIpId: string;
  readonly status: ResourceIpStatus;
  readonly organizationId: string;
  readonly writeVerified: boolean;
  /** released here while its ResourceIp continues on another target */
  readonly isDetached: boolean;
  /** not released, and its ResourceIp is PENDING or APPLIED */
  readonly isLive: boolean;
  /** PENDING for this pass since before the pass began */
  readonly waits: boolean;
}

interface AffectedRule {
  readonly ruleId: string;
  readonly key: string;
  /** `unknown` for a due rule outside this pass: it may be gone by now */
  readonly state: RuleState;
  readonly isUnmanaged: boolean;
  readonly writerOrganizationId: string | null;
  readonly providerRuleId: string | null;
  readonly lastError: string | null;
}

/** Everything a settlement may move, and the state that decides it. */
export interface Affected {
  readonly ips: AffectedIp[];
  readonly holders: AffectedHolder[];
  readonly rules: AffectedRule[];
}

/** What the ResourceIps of a rule show of its end, for people. */
export interface RuleEnd {
  readonly ruleId: string;
  /** it was given up, and why; null: its absence was observed */
  readonly givenUp: string | null;
  /** the unmanaged rules that let its address in still; null: none was observed */
  readonly stillAllowedBy: string | null;
}

/** A status change of a ResourceIp; with the same status, only its message changes. */
export interface IpMove {
  readonly id: string;
  readonly from: ResourceIpStatus;
  readonly to: ResourceIpStatus;
  readonly errorMessage: string | null;
  readonly providerRuleId: string | null;
  /** it failed because its target holds no addresses of its IP version */
  readonly isWrongFamily: boolean;
}

/** A session whose ResourceIps changed status. */
export interface AffectedSession {
  readonly id: string;
  readonly organizationId: OrganizationId;
  readonly status: SessionStatus;
  readonly endedReason: EndedReason | null;
  /** its lease ended before the planned end */
  readonly leaseLost: boolean;
  readonly userId: string;
  readonly userEmail: string;
  /** of one of its failed ResourceIps */
  readonly errorMessage: string | null;
  readonly ips: FamilyIp[];
  /** one of its ResourceIps waits for a suspended rule */
  readonly isSuspended: boolean;
}

/** A static IP rule whose ResourceIps changed status. */
export interface AffectedStaticRule {
  readonly id: string;
  readonly organizationId: OrganizationId;
  readonly label: string;
  readonly ipAddress: string;
  readonly statuses: ResourceIpStatus[];
}
