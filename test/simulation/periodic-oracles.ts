import { APPLY_TIMEOUT_MS } from '#rules';
import type { Faults } from './faults';
import { isOurs, type CloudRule, type ModelTarget } from './model-cloud';
import type { RuleRow } from './tables';
import { FAULT_BOUND_MS, HEALTHY_BOUND_MS, isAddedByEngine, shortId, type OracleState } from './oracle-state';
import type { Timeline } from './timeline';

/** Maximum time from an in-doubt removal that took effect to the rule's return, ms. */
const MAX_CUT_MS = 20_000;
/** Maximum time from unwanted to reported, ms. */
const REPORT_TIMEOUT_MS = 60_500;
/** Interval of the overdue alarm, with tolerance, ms. */
const ALARM_INTERVAL_MS = 5500;
/** As REPORT_TIMEOUT_MS, from the end of the last holder: a paused worker may release the holder this late, ms. */
const UNHELD_REPORT_TIMEOUT_MS = 120_000;
const HOUR_MS = 3_600_000;
/** How long after its holders a provider ends a rule, ms; times there are whole seconds. */
const MARGIN_MS = 119_000;
/** Start of the message of a ResourceIp whose rule is suspended. */
const SUSPENDED = 'Another program keeps removing';

/** Checks what only the passage of time shows. */
export class PeriodicOracles {
  private readonly misreportedTargets = new Set<string>();

  constructor(
    private readonly state: OracleState,
    private readonly faults: Faults,
    private readonly modelTargets: ReadonlyMap<string, ModelTarget>,
    private readonly timeline: Timeline,
  ) {}

  /** To be called twice a second. */
  check(): void {
    this.leaks();
    this.gaps();
    this.overdue();
    this.ends();
  }

  /** O4: a rule that an in-doubt removal took away from its holders is added again. */
  private gaps(): void {
    const now = this.state.now();
    if (now <= this.faults.endsAt + FAULT_BOUND_MS) return;
    for (const rule of this.state.tables.rules.values()) {
      const memory = this.state.memory(this.state.identifierOf(rule), rule.key);
      if (memory.cutAt === null || now - memory.cutAt < MAX_CUT_MS) continue;
      memory.cutAt = null;
      if (rule.lastError?.includes('quota')) continue;
      if (memory.removedByOthers || !this.state.liveHolders(rule).some((ip) => ip.status === 'APPLIED'))
        continue;
      this.state.violated('O4', `${rule.key} was removed while it was held, and is not added again`);
    }
  }

  /** O4: the end that the provider has of a settled rule is not before that of its holders. */
  private ends(): void {
    const now = this.state.now();
    for (const target of this.modelTargets.values())
      for (const { key, endsAt, ownRuleId } of target.list()) {
        const row = this.state.ruleAt(target.identifier, key);
        if (endsAt === undefined || ownRuleId === null || row?.id !== ownRuleId) continue;
        const isSettled = row.state === 'present' && row.dueAt === null && (row.inFlightUntil ?? 0) <= now;
        const end = Math.min(this.state.tables.plannedEndOf(row) + MARGIN_MS, now + 24 * HOUR_MS);
        if (
          isSettled &&
          row.unwantedSince === null &&
          this.state.tables.lastEndOf(row) > now &&
          endsAt * 1000 < end
        )
          this.state.violated(
            'O4',
            `${key} is ended by its provider ${end - endsAt * 1000} ms before its holder`,
          );
      }
  }

  /** O1: a rule of ours without a holder is removed in time. */
  private leaks(): void {
    const { state } = this;
    const now = state.now();
    const isBoundOver = now > this.faults.endsAt + FAULT_BOUND_MS;
    for (const target of this.modelTargets.values()) {
      for (const rule of target.list()) {
        if (!isOurs(rule)) continue;
        const memory = state.memory(target.identifier, rule.key);
        const row = state.ruleAt(target.identifier, rule.key);
        const isUnnamed = rule.planted && !state.isNamed(target.identifier);
        if (row && state.liveHolders(row).length > 0) memory.unheldSince = null;
        else if (isUnnamed) memory.unheldSince = now;
        else memory.unheldSince ??= now;
        if (isUnnamed) state.unnamedAt.set(target.identifier, now);
        if (state.isUndetected(target, rule)) continue;
        if (!isBoundOver || memory.unheldSince === null || now - memory.unheldSince <= HEALTHY_BOUND_MS)
          continue;
        state.violated('O1', `${rule.key} is present for ${now - memory.unheldSince} ms without a holder`);
        memory.unheldSince = Number.POSITIVE_INFINITY;
      }
    }
  }

  /** O12: a rule that is present and not desired is marked as unwanted, and reported in time. */
  private overdue(): void {
    const now = this.state.now();
    for (const rule of this.state.tables.rules.values()) {
      if (rule.state === 'absent') continue;
      const { unwantedSince, overdueAt, key, cause } = rule;
      const holders = this.state.tables.holderRows(rule);
      if (
        holders.every(({ releasedAt }) => releasedAt !== null) &&
        (unwantedSince === null || cause === null)
      )
        this.state.violated('O12', `${key} has no holder, and is not marked as unwanted`);
      const isNew = rule.possibleSince !== null && now - rule.possibleSince < ALARM_INTERVAL_MS;
      const isLate = unwantedSince !== null && now - unwantedSince > REPORT_TIMEOUT_MS;
      if (isLate && overdueAt === null && !isNew)
        this.state.violated('O12', `${key} is unwanted for ${now - unwantedSince} ms, and is not reported`);
      if (rule.isSuspended) this.suspended(rule);
    }
    for (const target of this.modelTargets.values()) {
      for (const rule of target.list().filter(isAddedByEngine)) this.isReported(target, rule);
    }
  }

  /** O2: the apply timeout of a holder does not end before its suspended rule is tried again. */
  private suspended(rule: RuleRow): void {
    for (const ip of this.state.tables.liveHoldersOf(rule)) {
      const waitsForIt = ip.status === 'PENDING' && ip.errorMessage?.startsWith(SUSPENDED);
      if (waitsForIt && rule.dueAt !== null && ip.pendingSince + APPLY_TIMEOUT_MS < rule.dueAt)
        this.state.violated('O2', `${shortId(ip.id)} times out before ${rule.key} is tried again`);
    }
  }

  /** O12 by the cloud's own record: a rule without a holder was reported. */
  private isReported({ identifier }: ModelTarget, { key }: CloudRule): void {
    const memory = this.state.memory(identifier, key);
    const { unheldSince } = memory;
    if (unheldSince === null || this.state.now() - unheldSince < UNHELD_REPORT_TIMEOUT_MS) return;
    const row = this.state.ruleAt(identifier, key);
    if (row && row.overdueAt !== null) return;
    this.state.violated('O12', `${key} is present without a holder, and is not reported`);
    memory.unheldSince = Number.POSITIVE_INFINITY;
  }

  /** O14: the access report matches the timeline. To be called at random moments. */
  accessReport(): void {
    for (const { identifier } of this.modelTargets.values()) {
      const [first] = this.timeline.mistakes(identifier);
      if (first !== undefined && !this.misreportedTargets.has(identifier))
        this.state.violated('O14', `${identifier}: ${first}`);
      if (first !== undefined) this.misreportedTargets.add(identifier);
    }
  }
}
