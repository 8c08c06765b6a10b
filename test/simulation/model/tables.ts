import type { Trail } from '#entities';
import type {
  EndedReason,
  OrganizationId,
  Provider,
  ResourceConfig,
  ResourceIpStatus,
  RuleSpec,
  RuleState,
  SessionStatus,
} from '#rules';

/** The rows the engine reads and writes, with the entities' column names; moments in ms of the model's clock. */
export interface TargetRow {
  readonly id: string;
  readonly provider: Provider;
  readonly resourceType: string;
  readonly identifier: string;
  leaseUntil: number | null;
  leaseGeneration: number;
  lastWriteAt: number | null;
  lastWriteSize: number;
  inFlightUntil: number | null;
  reconcileDueAt: number;
  reconcileRequested: boolean;
}

export interface RuleRow {
  readonly id: string;
  readonly targetId: string;
  readonly key: string;
  readonly spec: RuleSpec;
  state: RuleState;
  isForeign: boolean;
  providerRuleId: string | null;
  credentialId: string | null;
  region: string | null;
  dueAt: number | null;
  /** somebody lets go of it */
  closing: boolean;
  revision: number;
  attempts: number;
  inFlightUntil: number | null;
  lastError: string | null;
  lostCount: number;
  lostAt: number | null;
  targetMissingSince: number | null;
  /** ids of ResourceIps: the table `rule_holders` */
  readonly holders: Set<string>;
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
  endedAt: number | null;
  endedReason: EndedReason | null;
}

export interface StaticIpRuleRow {
  readonly id: string;
  readonly organizationId: OrganizationId;
  readonly ipAddress: string;
  deletedAt: number | null;
}

export interface ResourceIpRow {
  readonly id: string;
  readonly organizationId: OrganizationId;
  readonly sessionId: string | null;
  readonly staticIpRuleId: string | null;
  readonly resourceId: string;
  readonly ipAddress: string;
  status: ResourceIpStatus;
  pendingSince: number;
  providerRuleId: string | null;
  appliedAt: number | null;
  releasedAt: number | null;
  removedAt: number | null;
  errorMessage: string | null;
}

/** What the audit trail keeps of a move, reduced to what is compared. */
export interface AuditRow {
  readonly organizationId: OrganizationId;
  readonly eventType: string;
  readonly resourceId: string;
  readonly trail: Trail;
}

/** Told of every move of a status. */
export interface MoveWatcher {
  sessionMoves(session: SessionRow, to: SessionStatus): void;
  resourceIpMoves(ip: ResourceIpRow, to: ResourceIpStatus): void;
}

export const HOLDING: ReadonlySet<ResourceIpStatus> = new Set(['PENDING', 'APPLIED']);

/** The database in memory. What works on it is synchronous: a call is a transaction. */
export class Tables {
  readonly targets = new Map<string, TargetRow>();
  readonly rules = new Map<string, RuleRow>();
  readonly resources = new Map<string, ResourceRow>();
  /** credential id to its organization */
  readonly credentials = new Map<string, OrganizationId>();
  readonly sessions = new Map<string, SessionRow>();
  readonly staticIpRules = new Map<string, StaticIpRuleRow>();
  readonly resourceIps = new Map<string, ResourceIpRow>();
  readonly budgets = new Map<string, { tokens: number; refilledAt: number }>();
  readonly audit: AuditRow[] = [];
  /** resource id to its RECONCILE events: the messages */
  readonly health = new Map<string, (string | null)[]>();
  watcher: MoveWatcher | null = null;
  private made = 0;

  /** @param now the database's clock, ms */
  constructor(readonly now: () => number) {}

  newId(): string {
    this.made += 1;
    return `00000000-0000-4000-8000-${this.made.toString(16).padStart(12, '0')}`;
  }

  rulesOf(targetId: string): RuleRow[] {
    return [...this.rules.values()].filter((rule) => rule.targetId === targetId);
  }

  holdersOf(rule: RuleRow): ResourceIpRow[] {
    return [...rule.holders].map((id) => this.resourceIps.get(id)!);
  }

  isWanted(rule: RuleRow): boolean {
    return this.holdersOf(rule).some((ip) => HOLDING.has(ip.status));
  }

  heldBy(ip: ResourceIpRow): RuleRow[] {
    return [...this.rules.values()].filter((rule) => rule.holders.has(ip.id));
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

  /** The steps of `DUE`: these ResourceIps' rules are to be looked at. */
  makeDue(ips: readonly ResourceIpRow[]): void {
    const rules = new Set(ips.flatMap((ip) => this.heldBy(ip)));
    for (const rule of rules) {
      rule.dueAt = this.now();
      rule.revision += 1;
      rule.attempts = 0;
      rule.closing = true;
    }
  }

  /** `ON DELETE CASCADE` of `rule_holders`. */
  deleteIp(ip: ResourceIpRow): void {
    for (const rule of this.heldBy(ip)) rule.holders.delete(ip.id);
    this.resourceIps.delete(ip.id);
  }
}
