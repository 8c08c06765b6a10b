import type { Access, DriftStore, LostRule } from '#engine-store';
import { parseRuleKey, type ObservedRule, type RenamedRule } from '#rules';
import { lastSeen } from './ledger';
import { becomeAbsent } from './absent';
import type { Modelled } from './modelled';
import type { RuleRow, Tables } from './tables';

const HOUR_MS = 60 * 60_000;
const MAX_REPAIRS = 3;

/** `DriftStore` in memory. */
export class ModelDrift implements Modelled<DriftStore> {
  constructor(private readonly tables: Tables) {}

  /** A model call is a transaction: no lock is needed. */
  lockOwners(): void {
    // nothing runs concurrently
  }

  markMissing(ruleIds: readonly string[]): LostRule[] {
    const rules = ruleIds.flatMap((id) => this.tables.rules.get(id) ?? []);
    return rules.filter(({ state }) => state === 'present').map((rule) => this.loseOne(rule));
  }

  private loseOne(rule: RuleRow): LostRule {
    const now = this.tables.now();
    const isAgain = rule.lostAt !== null && rule.lostAt > now - HOUR_MS;
    const isSuspended = isAgain && rule.lostCount >= MAX_REPAIRS;
    const dueAt = isSuspended ? rule.lostAt! + HOUR_MS : now;
    rule.lostCount = isAgain ? rule.lostCount + 1 : 1;
    if (!isAgain) rule.lostAt = now;
    becomeAbsent(this.tables, rule, { isMissing: true, isUnmarked: false, isSuspended, dueAt });
    return { id: rule.id, isSuspended };
  }

  suspendPresent(ruleIds: readonly string[]): string[] {
    const now = this.tables.now();
    const rules = ruleIds.flatMap((id) => this.tables.rules.get(id) ?? []);
    const settled = rules.filter(
      ({ state, unwantedSince, dueAt, isSuspended }) =>
        state === 'present' && unwantedSince === null && (dueAt === null || (isSuspended && dueAt > now)),
    );
    for (const rule of settled) Object.assign(rule, { isSuspended: true, dueAt: now + HOUR_MS });
    return settled.map(({ id }) => id);
  }

  resume(ruleIds: readonly string[]): void {
    for (const rule of ruleIds.flatMap((id) => this.tables.rules.get(id) ?? []))
      if (rule.isSuspended && rule.state === 'present') rule.dueAt = this.tables.now();
  }

  suspendHolders(ruleIds: readonly string[], message: string): string[] {
    const moved = new Set<string>();
    for (const id of ruleIds) {
      const rule = this.tables.rules.get(id)!;
      for (const { resourceIpId, releasedAt } of this.tables.holderRows(rule)) {
        const ip = this.tables.resourceIps.get(resourceIpId)!;
        if (releasedAt !== null || ip.status !== 'APPLIED') continue;
        this.tables.moveIp(ip, 'PENDING');
        Object.assign(ip, { pendingSince: rule.dueAt!, errorMessage: message });
        if (ip.sessionId !== null) moved.add(ip.sessionId);
      }
    }
    return [...moved];
  }

  makeStaleDue(ruleIds: readonly string[], access: Access): void {
    const now = this.tables.now();
    for (const rule of ruleIds.flatMap((id) => this.tables.rules.get(id) ?? [])) {
      if (rule.state !== 'absent') continue;
      if (rule.credentialId === null) Object.assign(rule, access);
      Object.assign(rule, {
        state: 'present',
        dueAt: now,
        revision: rule.revision + 1,
        attempts: 0,
        closing: true,
        unwantedSince: now,
        overdueAt: null,
        cause: 'STALE_RULE',
        presentSince: now,
        possibleSince: now,
        observedAt: now,
        removalSentAt: null,
      });
    }
  }

  takeOver(
    targetId: string,
    orphans: readonly Pick<ObservedRule, 'key' | 'providerRuleId'>[],
    access: Access,
    cause: 'ORPHAN' | 'MAKE_ROOM',
    endedAgoMs: number,
  ): { ruleId: string; key: string }[] {
    const now = this.tables.now();
    const { comparedAt, accountedTo } = this.tables.targets.get(targetId)!;
    const known = new Set(this.tables.rulesOf(targetId).map((rule) => rule.key));
    return orphans.flatMap(({ key, providerRuleId }) => {
      if (known.has(key)) return [];
      known.add(key);
      const rule = this.tables.addRule({
        targetId,
        key,
        spec: parseRuleKey(key),
        accountedTo,
        state: 'present',
        providerRuleId,
        credentialId: access.credentialId,
        region: access.region,
        dueAt: now,
        closing: true,
        cause,
        unwantedSince: now,
        // 0: the creation of the target
        possibleSince: comparedAt ?? 0,
        presentSince: cause === 'ORPHAN' ? now - endedAgoMs : null,
        observedAt: now,
      });
      return [{ ruleId: rule.id, key }];
    });
  }

  noteUnobserved(ruleIds: readonly string[]): void {
    for (const rule of ruleIds.flatMap((id) => this.tables.rules.get(id) ?? []))
      if (rule.state !== 'absent') {
        const seen = lastSeen(rule, this.tables.targets.get(rule.targetId)!);
        rule.removalSentAt = Math.min(rule.removalSentAt ?? Infinity, seen ?? Infinity);
        if (rule.removalSentAt === Infinity) rule.removalSentAt = null;
      }
  }

  noteUnmarked(ruleIds: readonly string[]): void {
    for (const id of ruleIds) this.tables.rules.get(id)!.isUnmarked = true;
  }

  noteTaken(ruleIds: readonly string[]): void {
    const now = this.tables.now();
    const seen = { possibleSince: now, presentSince: now, observedAt: now, removalSentAt: null };
    for (const id of ruleIds)
      Object.assign(this.tables.rules.get(id)!, { ...seen, isUnmanaged: true, isUnmarked: false });
  }

  noteObserved(ruleIds: readonly string[], endedAgoMs: number): void {
    for (const rule of ruleIds.flatMap((id) => this.tables.rules.get(id) ?? []))
      rule.presentSince ??= this.tables.now() - endedAgoMs;
  }

  rename(renamed: readonly RenamedRule[], endedAgoMs: number): void {
    const presentSince = this.tables.now() - endedAgoMs;
    for (const { ruleId, providerRuleId } of renamed)
      Object.assign(this.tables.rules.get(ruleId)!, {
        providerRuleId,
        presentSince,
        observedAt: null,
        removalSentAt: null,
      });
  }
}
