import type {
  HolderKind,
  OrganizationId,
  ResourceIpStatus,
  RuleCause,
  RuleEventKind,
  RuleState,
  SessionStatus,
} from '#rules';

/** A row change recorded by the history triggers. All times are in milliseconds since 1970. */
interface Moved {
  readonly id: number;
  readonly at: number;
  /** transaction id */
  readonly xact: string;
  /** the state at the start of the watch, not a change */
  readonly seeded: boolean;
}

export interface SessionMove extends Moved {
  readonly kind: 'session';
  readonly sessionId: string;
  readonly organizationId: OrganizationId;
  readonly was: SessionStatus | null;
  /** null: the row was deleted */
  readonly now: SessionStatus | null;
  readonly expiresAt: number;
  readonly endedReason: string | null;
  readonly address: string;
}

export interface IpMove extends Moved {
  readonly kind: 'resource_ip';
  readonly ipId: string;
  readonly organizationId: OrganizationId;
  readonly sessionId: string | null;
  readonly resourceId: string;
  readonly was: ResourceIpStatus | null;
  readonly now: ResourceIpStatus | null;
}

export interface RuleMove extends Moved {
  readonly kind: 'rule';
  readonly ruleId: string;
  readonly targetId: string;
  /** `ruleKey` of libs/rules */
  readonly key: string;
  readonly was: RuleState | null;
  readonly now: RuleState | null;
  readonly attempts: number;
  readonly credentialId: string | null;
}

export interface HolderMove extends Moved {
  readonly kind: 'holder';
  readonly ruleId: string;
  readonly ipId: string;
  /** `released`: the row stays until its rule is observed absent; null: it was deleted */
  readonly now: 'held' | 'released' | null;
}

export interface ResourceMove extends Moved {
  readonly kind: 'resource';
  readonly resourceId: string;
  readonly organizationId: OrganizationId;
  readonly targetId: string;
  readonly writeVerified: boolean;
  readonly now: 'live' | 'deleted' | null;
}

export type Move = SessionMove | IpMove | RuleMove | HolderMove | ResourceMove;

/** A rule in a cloud. */
export interface CloudRule {
  readonly provider: string;
  readonly target: string;
  readonly address: string;
  readonly protocol: string;
  readonly fromPort: number | null;
  readonly toPort: number | null;
  readonly ours: boolean;
  readonly providerRuleId: string;
}

export interface CloudEvent extends CloudRule {
  readonly event: 'opened' | 'closed';
  readonly at: number;
}

export interface Call {
  readonly at: number;
  readonly operation: string;
  readonly target: string | null;
  readonly outcome: string | null;
}

export interface FaultWindow {
  readonly name: string;
  readonly from: number;
  /** null: it has not ended */
  readonly to: number | null;
  /** only the clouds fail: the database and the workers run, so reports must be in time */
  readonly cloudOnly?: boolean;
}

export interface AuditedAction {
  readonly organizationId: OrganizationId;
  readonly eventType: string;
  readonly resourceType: string | null;
  readonly resourceId: string | null;
  readonly result: string;
  readonly at: number;
  readonly errorMessage: string | null;
  readonly details: Readonly<Record<string, unknown>>;
}

/** The boundaries of an interval in which a rule was present; null: unknown, or not ended. */
export interface Interval {
  readonly possibleFrom: number | null;
  readonly certainFrom: number | null;
  readonly certainUntil: number | null;
  readonly possibleUntil: number | null;
}

/** A row of `rule_events`: one for each holder of the rule. */
export interface LedgerEvent extends Interval {
  readonly at: number;
  readonly kind: RuleEventKind;
  readonly provider: string;
  readonly target: string;
  readonly address: string;
  readonly protocol: string;
  readonly ports: string;
  readonly providerRuleId: string | null;
  readonly cause: RuleCause | null;
  readonly holderKind: HolderKind;
  readonly organizationId: OrganizationId | null;
  readonly resourceId: string | null;
  readonly sessionId: string | null;
}

export interface HealthEvent {
  readonly at: number;
  readonly organizationId: OrganizationId;
  readonly resourceId: string;
  readonly eventType: string;
  readonly message: string | null;
}

export interface AccessItem extends Interval {
  readonly provider: string;
  readonly target: string;
  readonly address: string;
  readonly protocol: string;
  /** as `portsText` of libs/rules writes them */
  readonly ports: string;
  readonly holderKind: HolderKind;
}

/** What `GET /reports/access?resourceId=…&at=…` answered to an admin. */
export interface AccessReport {
  readonly resourceId: string;
  /** the requested moment */
  readonly at: number;
  /** the report covers the whole target: the resource is write-verified, and its organization's only one there */
  readonly isWhole: boolean;
  readonly items: readonly AccessItem[];
}

/** What the product reports about its rules. */
export interface LedgerEvidence {
  readonly events: readonly LedgerEvent[];
  readonly healthEvents: readonly HealthEvent[];
  readonly reports: readonly AccessReport[];
  /** when each target was last read as a whole, by the target's id */
  readonly comparedAt: ReadonlyMap<string, number>;
}

export interface KeyedAnswer {
  readonly key: string;
  readonly sessionId: string;
}

/** Input of the oracles: the cloud's own timeline, the history of the database, answers to clients. */
export interface Evidence {
  readonly begunAt: number;
  /** when it was collected */
  readonly at: number;
  /** nothing was due or in progress when it was collected: the states must match exactly */
  readonly atRest: boolean;
  readonly presentAtStart: readonly CloudRule[];
  readonly presentRules: readonly CloudRule[];
  readonly timeline: readonly CloudEvent[];
  readonly calls: readonly Call[];
  readonly moves: readonly Move[];
  readonly targets: readonly { id: string; provider: string; identifier: string }[];
  /** the organization of each existing credential and resource, by id */
  readonly owners: ReadonlyMap<string, OrganizationId>;
  readonly audit: readonly AuditedAction[];
  /** a message for each organization with a broken audit chain */
  readonly brokenChains: readonly string[];
  /** the session of each stored Idempotency-Key */
  readonly storedKeys: readonly (KeyedAnswer & { readonly organizationId: OrganizationId })[];
  /** answers to starts with an Idempotency-Key */
  readonly keyedAnswers: readonly KeyedAnswer[];
  /** addresses that were requested with one Idempotency-Key only */
  readonly keyedAddresses: readonly string[];
  /** sessions that were answered with a 2xx */
  readonly acknowledged: readonly string[];
  readonly faults: readonly FaultWindow[];
  /** added to every bound: the machine does other work beside */
  readonly patienceMs?: number;
  /** `target address` of rules that another program changed */
  readonly outsideChanges: ReadonlySet<string>;
  /** number of workers killed during a pass: each allows for repeated calls */
  readonly kills: number;
  /** null: the watched release writes no ledger, O12 to O14 are skipped */
  readonly ledger: LedgerEvidence | null;
}
