import type { ComparisonOutcome, LedgerRow } from '#engine-store';
import {
  DETACHING_CAUSES,
  type AdditionCause,
  type EndedReason,
  type OrganizationId,
  type Provider,
  type RemovalCause,
  type ResourceConfig,
  type ResourceIpStatus,
  type Rule,
  type RuleSpec,
  type SessionStatus,
} from '#rules';

/** The rows the engine reads and writes, with the entities' column names; times in ms of the model's clock. */
export interface TargetRow {
  readonly id: string;
  readonly provider: Provider;
  readonly resourceType: string;
  readonly identifier: string;
  leaseUntil: number | null;
  leaseGeneration: number;
  lastWriteAt: number | null;
  lastWriteSize: number;
  promptWrites: number | null;
  inFlightUntil: number | null;
  reconcileDueAt: number;
  reconcileRequested: boolean;
  comparedAt: number | null;
  unmanagedDigest: string | null;
  accountedTo: string;
}

type Mutable<Row> = { -readonly [Column in keyof Row]: Row[Column] };

export interface RuleRow extends Mutable<Rule> {
  readonly targetId: string;
  readonly key: string;
  readonly spec: RuleSpec;
  accountedTo: string;
}

/** A row of `rule_holders`. */
export interface RuleHolderRow {
  readonly ruleId: string;
  readonly resourceIpId: string;
  cause: AdditionCause | null;
  releasedAt: number | null;
  releaseCause: RemovalCause | null;
}

export interface CredentialRow {
  readonly organizationId: OrganizationId;
}

export interface UnmanagedRow {
  readonly targetId: string;
  readonly key: string;
  readonly providerRuleId: string;
  readonly possibleSince: number | null;
  readonly presentSince: number;
}

/** A row of the ledger; times in ms of the model's clock. */
export interface EventRow extends Omit<LedgerRow, 'at'> {
  readonly at: number;
  readonly possibleFrom: number | null;
  readonly certainFrom: number | null;
  readonly certainUntil: number | null;
  readonly possibleUntil: number | null;
  readonly credentialId: string | null;
  readonly workerId: string;
}

export interface ResourceRow {
  readonly id: string;
  readonly organizationId: OrganizationId;
  readonly name: string;
  readonly config: ResourceConfig;
  credentialId: string;
  region: string | null;
  targetId: string;
  isActive: boolean;
  writeVerified: boolean;
  revision: number;
  deletedAt: number | null;
}

export interface SessionRow {
  readonly id: string;
  readonly organizationId: OrganizationId;
  readonly userId: string;
  readonly holder: string;
  readonly ipv4Address: string;
  readonly startedAt: number;
  status: SessionStatus;
  expiresAt: number;
  /** null: it has no lease */
  readonly leaseMs: number | null;
  leaseUntil: number | null;
  endedAt: number | null;
  endedReason: EndedReason | null;
}

/** `ENDS_AT` */
export const endOf = ({ expiresAt, leaseUntil }: Pick<SessionRow, 'expiresAt' | 'leaseUntil'>): number =>
  Math.min(expiresAt, leaseUntil ?? Infinity);

export interface StaticIpRuleRow {
  readonly id: string;
  readonly organizationId: OrganizationId;
  readonly ipAddress: string;
  readonly label: string;
  deletedAt: number | null;
}

export interface ResourceIpRow {
  readonly id: string;
  readonly organizationId: OrganizationId;
  readonly sessionId: string | null;
  readonly staticIpRuleId: string | null;
  readonly resourceId: string;
  readonly ipAddress: string;
  readonly createdAt: number;
  status: ResourceIpStatus;
  pendingSince: number;
  providerRuleId: string | null;
  appliedAt: number | null;
  releasedAt: number | null;
  removedAt: number | null;
  errorMessage: string | null;
  givenUp: string | null;
  stillAllowedBy: string | null;
}

/** An audit record, reduced to the columns that are compared. */
export interface AuditRow {
  readonly organizationId: OrganizationId;
  readonly eventType: string;
  readonly resourceId: string;
}

/** Is notified of every status change and every ledger row. */
export interface MoveWatcher {
  sessionMoves(session: SessionRow, to: SessionStatus): void;
  resourceIpMoves(ip: ResourceIpRow, to: ResourceIpStatus): void;
  recorded(event: EventRow): void;
}

export const HOLDING: ReadonlySet<ResourceIpStatus> = new Set(['PENDING', 'APPLIED']);

/** The defaults of the table's columns. */
const NEW_RULE = {
  state: 'absent',
  isUnmanaged: false,
  providerRuleId: null,
  credentialId: null,
  region: null,
  dueAt: null,
  closing: false,
  revision: 0,
  attempts: 0,
  inFlightUntil: null,
  lastError: null,
  lostCount: 0,
  lostAt: null,
  targetMissingSince: null,
  cause: null,
  unwantedSince: null,
  overdueAt: null,
  possibleSince: null,
  presentSince: null,
  observedAt: null,
  removalSentAt: null,
  isMissing: false,
  isUnmarked: false,
  isSuspended: false,
} as const;

/** The database in memory. Every call is synchronous, and therefore a transaction. */
export class Tables {
  readonly targets = new Map<string, TargetRow>();
  readonly rules = new Map<string, RuleRow>();
  readonly resources = new Map<string, ResourceRow>();
  readonly credentials = new Map<string, CredentialRow>();
  readonly sessions = new Map<string, SessionRow>();
  readonly staticIpRules = new Map<string, StaticIpRuleRow>();
  readonly resourceIps = new Map<string, ResourceIpRow>();
  readonly budgets = new Map<string, { tokens: number; refilledAt: number }>();
  readonly audit: AuditRow[] = [];
  /** the ledger */
  readonly events: EventRow[] = [];
  /** resource id to its RECONCILE events */
  readonly health = new Map<string, ComparisonOutcome[]>();
  /** the table `rule_holders`, by rule id */
  private readonly holders = new Map<string, Map<string, RuleHolderRow>>();
  unmanaged: UnmanagedRow[] = [];
  sweeper: { workerId: string; leaseUntil: number; othersSeenAt: number | null } | null = null;
  watcher: MoveWatcher | null = null;
  private made = 0;

  /** @param now the database's clock, ms */
  constructor(readonly now: () => number) {}

  newId(): string {
    this.made += 1;
    return `00000000-0000-4000-8000-${this.made.toString(16).padStart(12, '0')}`;
  }

  /** @returns the id of a new rule */
  addRule(
    rule: Pick<RuleRow, 'targetId' | 'key' | 'spec' | 'accountedTo'> & Partial<RuleRow>,
    id = this.newId(),
  ): RuleRow {
    const row: RuleRow = { ...NEW_RULE, ...rule, id };
    this.rules.set(id, row);
    return row;
  }

  deleteRule(id: string): void {
    this.rules.delete(id);
    this.holders.delete(id);
  }

  rulesOf(targetId: string): RuleRow[] {
    return [...this.rules.values()].filter((rule) => rule.targetId === targetId);
  }

  allHolders(): RuleHolderRow[] {
    return [...this.holders.values()].flatMap((held) => [...held.values()]);
  }

  /** Its live holders, and the released ones that are not settled. */
  holderRows({ id }: Pick<RuleRow, 'id'>): RuleHolderRow[] {
    return [...(this.holders.get(id)?.values() ?? [])];
  }

  /** @returns undefined: it has none */
  holder(ruleId: string, resourceIpId: string): RuleHolderRow | undefined {
    return this.holders.get(ruleId)?.get(resourceIpId);
  }

  hold(holder: RuleHolderRow): void {
    const held = this.holders.get(holder.ruleId) ?? new Map<string, RuleHolderRow>();
    this.holders.set(holder.ruleId, held.set(holder.resourceIpId, holder));
  }

  deleteHolder({ ruleId, resourceIpId }: Pick<RuleHolderRow, 'ruleId' | 'resourceIpId'>): void {
    this.holders.get(ruleId)?.delete(resourceIpId);
  }

  isLive({ resourceIpId, releasedAt }: RuleHolderRow): boolean {
    return releasedAt === null && HOLDING.has(this.resourceIps.get(resourceIpId)!.status);
  }

  /** The ResourceIps that desire it. */
  liveHoldersOf(rule: RuleRow): ResourceIpRow[] {
    return this.holderRows(rule)
      .filter((holder) => this.isLive(holder))
      .map(({ resourceIpId }) => this.resourceIps.get(resourceIpId)!);
  }

  isDesired(rule: RuleRow): boolean {
    return this.holderRows(rule).some((holder) => this.isLive(holder));
  }

  holdersBy({ id }: Pick<ResourceIpRow, 'id'>): RuleHolderRow[] {
    return [...this.holders.values()].flatMap((held) => held.get(id) ?? []);
  }

  /** The rules that it desires, or whose removal it waits for. */
  heldBy(ip: ResourceIpRow): RuleRow[] {
    return this.holdersBy(ip).map(({ ruleId }) => this.rules.get(ruleId)!);
  }

  desiredBy(ip: ResourceIpRow): RuleRow[] {
    const live = this.holdersBy(ip).filter(({ releasedAt }) => releasedAt === null);
    return live.map(({ ruleId }) => this.rules.get(ruleId)!);
  }

  /** The rules whose removal it waits for: not those it was detached from. */
  waitedFor(ip: ResourceIpRow): RuleRow[] {
    const waiting = this.holdersBy(ip).filter(
      ({ releaseCause }) => !DETACHING_CAUSES.some((cause) => cause === releaseCause),
    );
    return waiting.map(({ ruleId }) => this.rules.get(ruleId)!);
  }

  ipsWhere(holds: (ip: ResourceIpRow) => boolean): ResourceIpRow[] {
    return [...this.resourceIps.values()].filter(holds);
  }

  moveSession(session: SessionRow, to: SessionStatus): void {
    this.watcher?.sessionMoves(session, to);
    session.status = to;
  }

  moveIp(ip: ResourceIpRow, to: ResourceIpStatus): void {
    this.watcher?.resourceIpMoves(ip, to);
    ip.status = to;
  }

  record(event: EventRow): void {
    this.watcher?.recorded(event);
    this.events.push(event);
  }

  /** `ON DELETE CASCADE` of `rule_holders`. */
  deleteIp({ id }: ResourceIpRow): void {
    for (const held of this.holders.values()) held.delete(id);
    this.resourceIps.delete(id);
  }
}
