import type {
  ResourceIp,
  ResourceIpState,
  Holder,
  LedgerRow,
  SweeperLease,
  UnmanagedRule,
} from '#engine-store';
import {
  DETACHING_CAUSES,
  ruleLife,
  type EndedReason,
  type OrganizationId,
  type Provider,
  type ResourceConfig,
  type ResourceIpStatus,
  type Rule,
  type SessionStatus,
  type TargetRule,
} from '#rules';

/** The rows the engine reads and writes; times in ms of the simulation's clock. */
export interface TargetRow {
  readonly id: string;
  readonly provider: Provider;
  readonly resourceType: string;
  readonly identifier: string;
  leaseUntil: number | null;
  leaseGeneration: number;
  lastWriteAt: number | null;
  lastWriteSize: number;
  wasShort: boolean;
  inFlightUntil: number | null;
  reconcileDueAt: number;
  reconcileRequested: boolean;
  comparedAt: number | null;
  unmanagedDigest: string | null;
}

type Mutable<Row> = { -readonly [Column in keyof Row]: Row[Column] };

export type RuleRow = Mutable<Rule> & Pick<TargetRule, 'targetId' | 'key' | 'address' | 'protocol' | 'ports'>;

/** A row of `rule_holders`. */
export type RuleHolderRow = Mutable<Holder>;

export interface CredentialRow {
  readonly organizationId: OrganizationId;
}

export type UnmanagedRow = UnmanagedRule & { readonly targetId: string };

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
  deletedAt: number | null;
}

export interface ResourceIpRow
  extends
    Mutable<ResourceIpState>,
    Pick<ResourceIp, 'id' | 'organizationId' | 'sessionId' | 'staticIpRuleId' | 'resourceId' | 'createdAt'> {
  readonly ipAddress: string;
  releasedAt: number | null;
}

/** Is notified of every status change and every ledger row. */
export interface MoveWatcher {
  sessionMoves(session: SessionRow, to: SessionStatus): void;
  resourceIpMoves(ip: ResourceIpRow, to: ResourceIpStatus): void;
  recorded(event: LedgerRow): void;
}

export const HOLDING: ReadonlySet<ResourceIpStatus> = new Set(['PENDING', 'APPLIED']);

/** The database in memory. Every call is synchronous, and therefore a transaction. */
export class Tables {
  readonly targets = new Map<string, TargetRow>();
  readonly rules = new Map<string, RuleRow>();
  readonly resources = new Map<string, ResourceRow>();
  readonly credentials = new Map<string, CredentialRow>();
  readonly sessions = new Map<string, SessionRow>();
  readonly staticIpRules = new Map<string, StaticIpRuleRow>();
  readonly resourceIps = new Map<string, ResourceIpRow>();
  /** when the bucket of an account is full again */
  readonly budgets = new Map<string, number>();
  readonly queuedUntil = new Map<string, number>();
  /** the ledger */
  readonly events: LedgerRow[] = [];
  /** the table `rule_holders`, by rule id */
  private readonly holders = new Map<string, Map<string, RuleHolderRow>>();
  unmanaged: UnmanagedRow[] = [];
  sweeper: SweeperLease | null = null;
  /** from a backup, and no operator has confirmed that */
  isRestored = false;
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
    rule: Pick<RuleRow, 'targetId' | 'key' | 'address' | 'protocol' | 'ports'> & Partial<RuleRow>,
    id = this.newId(),
  ): RuleRow {
    const row: RuleRow = { ...ruleLife.NEW, ...rule, id };
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

  /** When the session of its last live holder ends; Infinity: it has none, or one without an end. */
  lastEndOf(rule: RuleRow, end = endOf): number {
    const ends = this.liveHoldersOf(rule).map(({ sessionId }) =>
      sessionId === null ? Infinity : end(this.sessions.get(sessionId)!),
    );
    return ends.length === 0 ? Infinity : Math.max(...ends);
  }

  /** As `lastEndOf`, if all leases are renewed. */
  plannedEndOf(rule: RuleRow): number {
    return this.lastEndOf(rule, ({ expiresAt }) => expiresAt);
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

  record(event: LedgerRow): void {
    this.watcher?.recorded(event);
    this.events.push(event);
  }

  /** `ON DELETE CASCADE` of `rule_holders`. */
  deleteIp({ id }: ResourceIpRow): void {
    for (const held of this.holders.values()) held.delete(id);
    this.resourceIps.delete(id);
  }
}
