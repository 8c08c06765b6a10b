import type {
  HolderKind,
  OrganizationId,
  ResourceIpStatus,
  RuleCause,
  RuleEventKind,
  RuleState,
  SessionStatus,
} from '#rules';

/** A move as the history triggers wrote it down. Every time in here is in milliseconds since 1970. */
interface Moved {
  readonly id: number;
  readonly at: number;
  /** the transaction: what one statement or settlement did has the same */
  readonly xact: string;
  /** it was so when the watch began, nobody moved it */
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
  /** `released`: the row waits until its rule is observed absent; null: it was deleted */
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

/** One opening or closing in a cloud, or what stood there. */
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
  /** null: it still lasts */
  readonly to: number | null;
  /** the clouds fail; the database and the workers run, so that nothing excuses a late report */
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

/** The edges of an interval in which a rule was present; null: not known, or not over. */
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
  /** the moment that was asked about */
  readonly at: number;
  /** the resource may see all of its target: it is write-verified, and its organization's only one there */
  readonly isWhole: boolean;
  readonly items: readonly AccessItem[];
}

/** What the product says about its rules: to operators, auditors and tenants. */
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

/** All that the oracles judge by: the cloud's own timeline, the database's history, what clients were told. */
export interface Evidence {
  readonly begunAt: number;
  /** when it was collected */
  readonly at: number;
  /** nothing was due or under way when it was collected: what is at rest must be exact */
  readonly atRest: boolean;
  readonly standingAtBegin: readonly CloudRule[];
  readonly standing: readonly CloudRule[];
  readonly timeline: readonly CloudEvent[];
  readonly calls: readonly Call[];
  readonly moves: readonly Move[];
  readonly targets: readonly { id: string; provider: string; identifier: string }[];
  /** whose a row is, by its id: credentials and resources that are still there */
  readonly owners: ReadonlyMap<string, OrganizationId>;
  readonly audit: readonly AuditedAction[];
  /** of each organization whose chain does not hold: why */
  readonly brokenChains: readonly string[];
  /** the session each stored Idempotency-Key stands for */
  readonly storedKeys: readonly (KeyedAnswer & { readonly organizationId: OrganizationId })[];
  /** what clients were answered to starts with an Idempotency-Key */
  readonly keyedAnswers: readonly KeyedAnswer[];
  /** addresses that were only ever asked for under one Idempotency-Key */
  readonly keyedAddresses: readonly string[];
  /** sessions a client was told of with a 2xx */
  readonly acknowledged: readonly string[];
  readonly faults: readonly FaultWindow[];
  /** `target address` that somebody else changed */
  readonly outsideHands: ReadonlySet<string>;
  /** how often a worker was killed in the midst of its work: that much of it was done again */
  readonly kills: number;
  /** null: the product that was watched writes no ledger, O12 to O14 are not judged */
  readonly ledger: LedgerEvidence | null;
}
