import type { Access, Lease, RuleSettlement, Settled, Settlement, SettlementStore, Trail } from '#entities';
import { overallStatus, resourceIpMoves, sessionStatus, type ResourceIpMove, type SettledIp } from '#rules';
import type { Modelled } from './modelled';
import { HOLDING, type ResourceIpRow, type RuleRow, type Tables } from './tables';

const byKey = (one: RuleRow, other: RuleRow): number => (one.key < other.key ? -1 : 1);

/** It waits as it did when the look began. */
const isWaiting = (
  { id, status, pendingSince }: ResourceIpRow,
  waiting: ReadonlyMap<string, string>,
): boolean => status === 'PENDING' && waiting.get(id) === `${pendingSince}`;

/** `SettlementStore` in memory. */
export class ModelSettlements implements Modelled<Pick<SettlementStore, 'settle'>> {
  constructor(private readonly tables: Tables) {}

  settle(lease: Lease, settlement: Settlement, trail: Trail): Settled | null {
    if (`${this.tables.targets.get(lease.targetId)!.leaseGeneration}` !== lease.generation) return null;
    const settled = settlement.rules.map((found) => this.writeRule(found, settlement.access));
    if (settlement.together) this.bringTogether(lease, settlement.rules);
    const affected = this.affected(settled, settlement);
    const moved: ResourceIpRow[] = [];
    const latenessSeconds: number[] = [];
    const failed = new Set(settlement.rules.filter((rule) => rule.failed).map((rule) => rule.ruleId));
    for (const { ip: seen, move } of resourceIpMoves(affected, failed, settlement.looked)) {
      const ip = this.tables.resourceIps.get(seen.id)!;
      moved.push(ip);
      const late = this.writeIp(ip, move);
      if (late !== null) latenessSeconds.push(late);
    }
    this.makeUnwantedDue(moved.filter((ip) => ip.status === 'FAILED'));
    for (const id of new Set(moved.flatMap((ip) => ip.sessionId ?? []))) this.writeSession(id, trail);
    for (const id of new Set(moved.flatMap((ip) => ip.staticIpRuleId ?? []))) this.auditStaticRule(id, trail);
    return { latenessSeconds };
  }

  private writeRule(found: RuleSettlement, access: Access | null): RuleRow {
    const now = this.tables.now();
    const rule = this.tables.rules.get(found.ruleId)!;
    const same = rule.revision === found.revision;
    if (access && this.isAdopted(rule, found, access)) Object.assign(rule, access);
    rule.state = found.state ?? rule.state;
    rule.isForeign = found.isForeign ?? rule.isForeign;
    rule.providerRuleId = found.providerRuleId ?? (found.state === 'absent' ? null : rule.providerRuleId);
    rule.attempts = same ? found.attempts : 0;
    if (same) rule.dueAt = found.dueInMs === null ? null : now + found.dueInMs;
    if (!found.inFlight) rule.inFlightUntil = null;
    rule.lastError = found.message;
    if (found.targetMissing !== null) {
      rule.targetMissingSince = found.targetMissing ? (rule.targetMissingSince ?? now) : null;
    }
    return rule;
  }

  /** The object's other rules that wait for another try wait for the same one. */
  private bringTogether({ targetId }: Lease, found: readonly RuleSettlement[]): void {
    const now = this.tables.now();
    const looked = new Set(found.map(({ ruleId }) => ruleId));
    const dueAt = now + Math.max(...found.map(({ dueInMs }) => dueInMs ?? 0));
    for (const rule of this.tables.rulesOf(targetId)) {
      if (!looked.has(rule.id) && rule.attempts > 0 && rule.dueAt !== null && rule.dueAt > now)
        rule.dueAt = dueAt;
    }
  }

  private isAdopted(rule: RuleRow, found: RuleSettlement, access: Access): boolean {
    const { credentials, resources } = this.tables;
    const sameWay = (way: Access): boolean =>
      way.credentialId === rule.credentialId && way.region === rule.region;
    if (found.state !== 'present' || sameWay(access)) return false;
    if (rule.credentialId !== null) {
      const writer = credentials.get(rule.credentialId);
      if (writer === undefined || writer !== credentials.get(access.credentialId)) return false;
    }
    const holding = this.tables.holdersOf(rule).filter((ip) => HOLDING.has(ip.status));
    return !holding.some((ip) => sameWay(resources.get(ip.resourceId)!));
  }

  /** Read before anything is moved, as the one statement does. */
  private affected(rules: readonly RuleRow[], settlement: Settlement): SettledIp[] {
    const waiting = new Map(settlement.waiting.map((ip) => [ip.resourceIpId, ip.pendingSince]));
    const isOwnWay = ({ resourceId }: ResourceIpRow): boolean => {
      const resource = this.tables.resources.get(resourceId);
      const { access } = settlement;
      if (access === null) return true;
      return resource?.credentialId === access.credentialId && resource.region === access.region;
    };
    const touched = new Set(rules.flatMap((rule) => this.tables.holdersOf(rule)));
    return [...touched]
      .filter((ip) => ip.status === 'REMOVING' || (isWaiting(ip, waiting) && isOwnWay(ip)))
      .map((ip) => this.seen(ip, settlement.giveUpSeconds, new Set(rules), waiting));
  }

  private seen(
    ip: ResourceIpRow,
    giveUpSeconds: number,
    looked: ReadonlySet<RuleRow>,
    waiting: ReadonlyMap<string, string>,
  ): SettledIp {
    const rules = this.tables.heldBy(ip).sort(byKey);
    const mayFail = (one: ResourceIpRow): boolean => isWaiting(one, waiting);
    const others = (rule: RuleRow): ResourceIpRow[] =>
      this.tables.holdersOf(rule).filter((one) => one.id !== ip.id && HOLDING.has(one.status));
    return {
      id: ip.id,
      status: ip.status,
      overdue: ip.pendingSince < this.tables.now() - giveUpSeconds * 1000,
      rules: rules.map((rule) => ({
        ruleId: rule.id,
        state: rule.dueAt !== null && !looked.has(rule) && rule.state === 'present' ? 'unknown' : rule.state,
        providerRuleId: rule.providerRuleId,
        lastError: rule.lastError,
        keptByOthers: others(rule).some((one) => !mayFail(one)),
        waitingOthers: others(rule)
          .filter(mayFail)
          .map((one) => one.id),
      })),
    };
  }

  private writeIp(ip: ResourceIpRow, move: ResourceIpMove): number | null {
    const now = this.tables.now();
    this.tables.moveIp(ip, move.to);
    ip.errorMessage = move.errorMessage;
    if (move.to === 'APPLIED') Object.assign(ip, { providerRuleId: move.providerRuleId, appliedAt: now });
    if (move.to !== 'REMOVED') return null;
    ip.removedAt = now;
    return ip.releasedAt === null ? null : (now - ip.releasedAt) / 1000;
  }

  private makeUnwantedDue(failed: readonly ResourceIpRow[]): void {
    const rules = new Set(failed.flatMap((ip) => this.tables.heldBy(ip)));
    for (const rule of rules) {
      if (rule.state === 'absent') continue;
      rule.dueAt = this.tables.now();
      rule.revision += 1;
      rule.closing = true;
    }
  }

  private writeSession(id: string, trail: Trail): void {
    const session = this.tables.sessions.get(id)!;
    const statuses = this.tables.ipsWhere((ip) => ip.sessionId === id).map((ip) => ip.status);
    const from = session.status;
    const to = sessionStatus(from, statuses, session.endedReason);
    if (to === from) return;
    this.tables.moveSession(session, to);
    const lost = to === 'FAILED' || (to === 'PARTIAL' && from !== 'PENDING');
    const opened = to === 'ACTIVE' || to === 'PARTIAL' ? 'SESSION_ACTIVATED' : `SESSION_${to}`;
    const eventType = lost ? 'SESSION_FAILED' : opened;
    this.tables.audit.push({ organizationId: session.organizationId, eventType, resourceId: id, trail });
  }

  private auditStaticRule(id: string, trail: Trail): void {
    const rule = this.tables.staticIpRules.get(id);
    if (!rule || rule.deletedAt !== null) return;
    const statuses = this.tables
      .ipsWhere((ip) => ip.staticIpRuleId === id && ip.status !== 'REMOVING' && ip.status !== 'REMOVED')
      .map((ip) => ip.status);
    if (statuses.length === 0) return;
    const status = overallStatus(statuses);
    if (status === 'PENDING') return;
    const eventType = status === 'ACTIVE' ? 'STATIC_IP_RULE_APPLIED' : 'STATIC_IP_RULE_FAILED';
    this.tables.audit.push({ organizationId: rule.organizationId, eventType, resourceId: id, trail });
  }
}
