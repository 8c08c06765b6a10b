import { LIVE_SESSION_STATUSES } from '#rules';
import type { Faults } from './faults';
import { isOurs, type ModelTarget } from './model-cloud';
import { endOf, type ResourceIpRow, type SessionRow, type Tables } from './tables';
import { FAULT_BOUND_MS, HEALTHY_BOUND_MS, shortId, type OracleState } from './oracle-state';
import type { PeriodicOracles } from './periodic-oracles';

/** Maximum calls for one change at rest: reads before and after, again for each access path of a waiting holder. */
const MAX_CALLS_PER_CHANGE = 8;
/** Maximum share of the changes that change nothing, in a history without faults. */
const MAX_REDUNDANT_SHARE = 0.2;

/** Checks the end of a history, after the last fault: every status is final or stable, the clouds match the holders. */
export class AtRest {
  constructor(
    private readonly tables: Tables,
    private readonly faults: Faults,
    private readonly modelTargets: ReadonlyMap<string, ModelTarget>,
    private readonly state: OracleState,
    private readonly periodic: PeriodicOracles,
  ) {}

  check(): void {
    for (const session of this.tables.sessions.values()) this.session(session);
    for (const ip of this.tables.resourceIps.values()) this.address(ip);
    for (const target of this.modelTargets.values()) this.exactCount(target);
    this.liveState();
    this.periodic.accessReport();
    this.calls();
  }

  /** Whether the bound for work that became due then is over. */
  private isBoundOver(moment: number): boolean {
    const now = this.tables.now();
    return now - moment > (this.faults.isHealthy ? HEALTHY_BOUND_MS : FAULT_BOUND_MS);
  }

  private session(session: SessionRow): void {
    const { id, status, endedAt, startedAt } = session;
    const isLive = LIVE_SESSION_STATUSES.some((live) => live === status);
    if (isLive && this.isBoundOver(endOf(session)))
      this.state.violated('O2', `session ${shortId(id)} does not end`);
    if (status === 'PENDING' && this.isBoundOver(startedAt)) {
      this.state.violated('O2', `session ${shortId(id)} stays PENDING`);
    }
    if (status === 'EXPIRING' && this.isBoundOver(endedAt!)) {
      this.state.violated('O2', `session ${shortId(id)} stays EXPIRING`);
    }
  }

  private address(ip: ResourceIpRow): void {
    const { id, status, pendingSince, releasedAt } = ip;
    if (status === 'PENDING' && this.isBoundOver(pendingSince) && !this.hasSuspendedRule(ip)) {
      this.state.violated('O2', `address ${shortId(id)} stays PENDING`);
    }
    if (status === 'REMOVING' && this.isBoundOver(releasedAt!)) {
      this.state.violated('O2', `address ${shortId(id)} stays REMOVING`);
    }
  }

  /** Whether another program keeps removing its rule: repairs are suspended for an hour. */
  private hasSuspendedRule(ip: ResourceIpRow): boolean {
    return this.tables.heldBy(ip).some(({ lostCount }) => lostCount > 3);
  }

  private exactCount(target: ModelTarget): void {
    for (const rule of this.tables.rules.values()) {
      if (this.state.identifierOf(rule) !== target.identifier) continue;
      const applied = this.state.liveHolders(rule).filter((ip) => ip.status === 'APPLIED');
      // free quota is used at the next retry
      const isOverQuota =
        target.list().length >= target.quota || (rule.lastError?.includes('quota') ?? false);
      const isPutOff =
        isOverQuota || (rule.dueAt !== null && rule.dueAt > this.tables.now() + FAULT_BOUND_MS);
      if (applied.length > 0 && !isPutOff && target.rulesWith(rule.key).length === 0) {
        this.state.violated('O3', `${rule.key} is absent, and ${shortId(applied[0]!.id)} is APPLIED`);
      }
    }
    const now = this.tables.now();
    for (const rule of target.list()) {
      const { key } = rule;
      if (!isOurs(rule) || this.state.isUndetected(target, rule)) continue;
      const { unheldSince } = this.state.memory(target.identifier, key);
      if (unheldSince !== null && now - unheldSince > HEALTHY_BOUND_MS) {
        this.state.violated('O3', `${key} is present without a holder`);
      }
    }
  }

  /** Settled rules and holders are deleted. */
  private liveState(): void {
    for (const { ruleId, resourceIpId } of this.tables.allHolders()) {
      const { status, removedAt, pendingSince } = this.tables.resourceIps.get(resourceIpId)!;
      if (status !== 'REMOVED' && status !== 'FAILED') continue;
      if (!this.isBoundOver(removedAt ?? pendingSince)) continue;
      const { key } = this.tables.rules.get(ruleId)!;
      this.state.violated('live', `${shortId(resourceIpId)} is ${status}, and is still a holder of ${key}`);
    }
    for (const rule of this.tables.rules.values()) {
      const isOver = rule.state === 'absent' && rule.dueAt === null;
      if (isOver && this.tables.holderRows(rule).length === 0)
        this.state.violated('live', `${rule.key} is settled, and is not deleted`);
    }
  }

  private calls(): void {
    const since = this.tables.now() - 25_000;
    const recent = this.state.calls.filter((at) => at > since).length;
    const ended = [...this.tables.sessions.values()].filter((one) => endOf(one) > since - 10_000);
    const maxCalls = MAX_CALLS_PER_CHANGE * (2 + ended.length);
    if (recent > maxCalls) this.state.violated('O9', `${recent} calls at rest, at most ${maxCalls} expected`);
    const { changesSent: sent, changesRedundant: redundant } = this.state;
    if (this.faults.isHealthy && redundant > 1 + MAX_REDUNDANT_SHARE * sent) {
      this.state.violated('O9', `${redundant} of ${sent} changes were redundant, without any fault`);
    }
  }
}
