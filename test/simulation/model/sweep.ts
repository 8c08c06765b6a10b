import type { SweepOutlook, SweepStore, WokenTargets } from '#engine-store';
import { grouped, SESSION_MOVES, type SlotUse } from '#rules';
import { endSessions } from './holders';
import { isUnleased } from './leases';
import type { Modelled } from './modelled';
import { isForgettable } from './settlement';
import { endOf, HOLDING, type ResourceIpRow, type RuleRow, type SessionRow, type Tables } from './tables';

const RULES_PER_TARGET = 4;
const MAX_PAUSE_MS = 3 * 60_000;
const MAX_SUSPENSION_MS = 61 * 60_000;
const DAY_MS = 24 * 60 * 60_000;

const isUnsettled = (ip: ResourceIpRow): boolean => HOLDING.has(ip.status) || ip.status === 'REMOVING';

/** Removed, or refused and released. */
const isOut = ({ status, releasedAt }: ResourceIpRow): boolean =>
  status === 'REMOVED' || (status === 'FAILED' && releasedAt !== null);

interface Work {
  readonly targetId: string;
  readonly accountedTo: string;
  readonly closing: boolean;
  readonly deferrable: boolean;
  readonly since: number;
}

/** `rules_work_idx` */
const rankOf = ({ closing, attempts }: RuleRow): number => Number(!closing) * 2 + Number(attempts > 0);

/** Order within one organization's turn. */
const inTurn = (one: Work, other: Work): number =>
  Number(other.closing) - Number(one.closing) ||
  Number(one.deferrable) - Number(other.deferrable) ||
  one.since - other.since;

/** `SweepStore` in memory. The model has too few organizations for the turns between them to matter. */
export class ModelSweep implements Modelled<SweepStore> {
  constructor(private readonly tables: Tables) {}

  expireSessions(limit: number): { count: number; targets: WokenTargets[] } {
    const over = this.over()
      .sort((a, b) => endOf(a) - endOf(b))
      .slice(0, limit);
    if (over.length === 0) return { count: 0, targets: [] };
    const woken = endSessions(this.tables, over, 'EXPIRED', 'SESSION_EXPIRED');
    const byProvider = grouped(woken, (id) => this.tables.targets.get(id)!.provider);
    return {
      count: over.length,
      targets: [...byProvider].map(([provider, targetIds]) => ({ provider, targetIds })),
    };
  }

  outlook(): SweepOutlook {
    const now = this.tables.now();
    const ends = this.live().map(endOf);
    return {
      nextEndMs: ends.length === 0 ? null : Math.max(0, Math.min(...ends) - now),
      isDue:
        [...this.tables.rules.values()].some(({ dueAt }) => dueAt !== null && dueAt <= now) ||
        [...this.tables.targets.values()].some(({ reconcileDueAt }) => reconcileDueAt <= now),
    };
  }

  private over(): SessionRow[] {
    const now = this.tables.now();
    return this.live().filter((session) => endOf(session) <= now);
  }

  private live(): SessionRow[] {
    return [...this.tables.sessions.values()].filter(({ status }) =>
      SESSION_MOVES[status].includes('EXPIRING'),
    );
  }

  purge(limit: number): void {
    const { rules, staticIpRules, resources } = this.tables;
    const isUsed = (ip: ResourceIpRow): boolean => this.tables.holdersBy(ip).length > 0;
    const over = [...rules.values()].filter((rule) => isForgettable(this.tables, rule));
    const entries = this.tables.ipsWhere((ip) => ip.staticIpRuleId !== null && isOut(ip) && !isUsed(ip));
    const statics = [...staticIpRules.values()].filter(
      (rule) =>
        rule.deletedAt !== null &&
        !this.tables
          .ipsWhere((ip) => ip.staticIpRuleId === rule.id)
          .some((ip) => isUnsettled(ip) || isUsed(ip)),
    );
    const unused = [...resources.values()].filter(
      (resource) =>
        resource.deletedAt !== null &&
        !this.tables.ipsWhere((ip) => ip.resourceId === resource.id).some(isUnsettled),
    );
    for (const { id } of over.slice(0, limit)) this.tables.deleteRule(id);
    for (const ip of entries.slice(0, limit)) this.tables.deleteIp(ip);
    for (const { id } of statics.slice(0, limit)) {
      for (const ip of this.tables.ipsWhere((one) => one.staticIpRuleId === id)) this.tables.deleteIp(ip);
      staticIpRules.delete(id);
    }
    for (const { id } of unused.slice(0, limit)) resources.delete(id);
  }

  /** The model keeps credentials for ever. */
  purgeCredentials(): void {}

  bringForward(): void {
    const now = this.tables.now();
    for (const rule of this.tables.rules.values()) {
      const longest = rule.isSuspended ? MAX_SUSPENSION_MS : MAX_PAUSE_MS;
      if (rule.dueAt !== null && rule.dueAt > now + longest) rule.dueAt = now;
    }
    for (const target of this.tables.targets.values())
      if (target.reconcileDueAt > now + DAY_MS) target.reconcileDueAt = now;
    for (const [key, fullAt] of this.tables.budgets)
      if (fullAt > now + MAX_PAUSE_MS) this.tables.budgets.set(key, now);
  }

  waitingTargets(perOrganization: number, limit: number): SlotUse[] {
    const due = this.due(perOrganization);
    const isDue = new Set(due.map(({ targetId }) => targetId));
    const work = [...due, ...this.compared(perOrganization).filter(({ targetId }) => !isDue.has(targetId))];
    const placed = [...grouped(work, ({ accountedTo }) => accountedTo).values()].flatMap((own) =>
      own.sort(inTurn).map((one, position) => ({ one, position })),
    );
    return placed
      .filter(({ position }) => position < perOrganization)
      .sort((a, b) => a.position - b.position || inTurn(a.one, b.one))
      .slice(0, limit)
      .map(({ one: { targetId, closing, deferrable } }) => ({ ...this.use(targetId), closing, deferrable }));
  }

  /** For each organization and rank, the rules that wait longest. */
  private due(perOrganization: number): Work[] {
    const now = this.tables.now();
    const rules = [...this.tables.rules.values()].filter(
      ({ dueAt, targetId }) =>
        dueAt !== null && dueAt <= now && isUnleased(this.tables.targets.get(targetId)!, now),
    );
    const ranked = grouped(rules, (rule) => `${rule.accountedTo} ${rankOf(rule)}`);
    const first = [...ranked.values()].flatMap((some) =>
      some.sort((a, b) => a.dueAt! - b.dueAt!).slice(0, perOrganization * RULES_PER_TARGET),
    );
    return [...grouped(first, (rule) => `${rule.accountedTo} ${rule.targetId}`).values()].map((some) => ({
      targetId: some[0]!.targetId,
      accountedTo: some[0]!.accountedTo,
      closing: some.some((rule) => rule.closing),
      deferrable: some.every((rule) => rule.attempts > 0),
      since: Math.min(...some.map((rule) => rule.dueAt!)),
    }));
  }

  private compared(perOrganization: number): Work[] {
    const now = this.tables.now();
    const targets = [...this.tables.targets.values()].filter(
      (target) => target.reconcileDueAt <= now && isUnleased(target, now),
    );
    return [...grouped(targets, ({ accountedTo }) => accountedTo).values()].flatMap((own) =>
      own
        .sort((a, b) => a.reconcileDueAt - b.reconcileDueAt)
        .slice(0, perOrganization)
        .map(({ id, accountedTo, reconcileDueAt }) => ({
          targetId: id,
          accountedTo,
          closing: false,
          deferrable: true,
          since: reconcileDueAt,
        })),
    );
  }

  waitingTarget(targetId: string): SlotUse | null {
    const now = this.tables.now();
    const target = this.tables.targets.get(targetId);
    if (!target || !isUnleased(target, now)) return null;
    const due = this.tables.rulesOf(targetId).filter(({ dueAt }) => dueAt !== null && dueAt <= now);
    if (due.length === 0 && target.reconcileDueAt > now) return null;
    return {
      ...this.use(targetId),
      closing: due.some((rule) => rule.closing),
      deferrable: due.every((rule) => rule.attempts > 0),
    };
  }

  private use(targetId: string): Pick<SlotUse, 'targetId' | 'provider' | 'organizations'> {
    const named = [...this.tables.resources.values()].filter((resource) => resource.targetId === targetId);
    const organizations = [...new Set(named.map(({ organizationId }) => organizationId))].sort();
    return { targetId, provider: this.tables.targets.get(targetId)!.provider, organizations };
  }

  /** Whether a sweep would find nothing now. Called most often of all: it builds no lists. */
  isIdle(): boolean {
    const now = this.tables.now();
    const { sessions, rules, targets, resourceIps, staticIpRules, resources } = this.tables;
    for (const session of sessions.values())
      if (endOf(session) <= now && SESSION_MOVES[session.status].includes('EXPIRING')) return false;
    for (const rule of rules.values()) {
      const { dueAt, state } = rule;
      if (dueAt === null ? state === 'absent' && isForgettable(this.tables, rule) : dueAt <= now)
        return false;
    }
    for (const { reconcileDueAt } of targets.values()) if (reconcileDueAt <= now) return false;
    for (const ip of resourceIps.values()) if (ip.staticIpRuleId !== null && isOut(ip)) return false;
    for (const { deletedAt } of staticIpRules.values()) if (deletedAt !== null) return false;
    for (const { deletedAt } of resources.values()) if (deletedAt !== null) return false;
    return true;
  }
}
