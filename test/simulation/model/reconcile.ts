import type {
  Access,
  DueComparison,
  HealthReport,
  KnownRules,
  Lease,
  LostRule,
  NamingResource,
  ReconcileStore,
  ReconcileWay,
} from '#engine-store';
import { parseRuleKey, TARGET_GONE_MS, type ObservedRule, type RenamedRule } from '#rules';
import { lastSeen } from './ledger';
import type { Modelled } from './modelled';
import type { RuleRow, Tables, UnmanagedRow } from './tables';

const INTERVAL_MS = 45_000;
const READS_PER_SECOND = 5;
const UNREACHABLE_INTERVAL_MS = 10 * 60_000;
const HOUR_MS = 60 * 60_000;
const MAX_REPAIRS = 3;

type Unmanaged = Pick<UnmanagedRow, 'key' | 'providerRuleId'>;

/** `ReconcileStore` in memory. */
export class ModelReconcile implements Modelled<ReconcileStore> {
  constructor(private readonly tables: Tables) {}

  finish(
    targetId: string,
    { againAt }: DueComparison,
    unmanagedDigest: string | null,
    startedAgoMs: number,
  ): void {
    const target = this.tables.targets.get(targetId)!;
    const now = this.tables.now();
    if (unmanagedDigest !== null) Object.assign(target, { comparedAt: now - startedAgoMs, unmanagedDigest });
    if (`${target.reconcileDueAt}` !== againAt) return;
    target.reconcileDueAt =
      now + Math.max(INTERVAL_MS, (1000 * this.mostTargets(targetId)) / READS_PER_SECOND);
    target.reconcileRequested = false;
  }

  /** To how many targets one of the target's credentials leads. */
  private mostTargets(targetId: string): number {
    const resources = [...this.tables.resources.values()];
    const ways = new Set(
      resources.filter((one) => one.targetId === targetId).map(({ credentialId }) => credentialId),
    );
    const counts = [...ways].map(
      (way) =>
        new Set(resources.filter(({ credentialId }) => credentialId === way).map((one) => one.targetId)).size,
    );
    return Math.max(0, ...counts);
  }

  ask(targetId: string, inSeconds: number, requested: boolean): void {
    const target = this.tables.targets.get(targetId)!;
    target.reconcileDueAt = Math.min(target.reconcileDueAt, this.tables.now() + inSeconds * 1000);
    target.reconcileRequested ||= requested;
  }

  putOff(targetId: string): void {
    const target = this.tables.targets.get(targetId)!;
    const isEmpty = this.tables.rulesOf(targetId).every(({ state }) => state === 'absent');
    if (!target.reconcileRequested && isEmpty)
      target.reconcileDueAt = this.tables.now() + Math.max(UNREACHABLE_INTERVAL_MS, INTERVAL_MS);
  }

  known(lease: Lease): KnownRules {
    return {
      unmanagedDigest: this.tables.targets.get(lease.targetId)!.unmanagedDigest,
      rules: this.tables.rulesOf(lease.targetId).map((rule) => ({
        ruleId: rule.id,
        key: rule.key,
        state: rule.state,
        isForeign: rule.isForeign,
        isUnmarked: rule.isUnmarked,
        providerRuleId: rule.providerRuleId,
        targetMissing: rule.targetMissingSince !== null,
        wasObserved: rule.presentSince !== null,
        wanted: this.tables.isWanted(rule),
      })),
    };
  }

  ways(lease: Lease): ReconcileWay[] {
    const named = [...this.tables.resources.values()].filter(
      (resource) => resource.targetId === lease.targetId && resource.deletedAt === null,
    );
    const written = this.tables
      .rulesOf(lease.targetId)
      .filter((rule) => rule.state !== 'absent' && rule.credentialId !== null);
    const sources = named.length > 0 ? named : written;
    const ways = new Map<string, { access: Access; resources: NamingResource[] }>();
    for (const { credentialId, region } of sources) {
      ways.set(`${credentialId} ${region}`, {
        access: { credentialId: credentialId!, region },
        resources: [],
      });
    }
    for (const { id, organizationId, name, credentialId, region } of named) {
      const lastOutcome = this.tables.health.get(id)?.at(-1) ?? null;
      ways.get(`${credentialId} ${region}`)!.resources.push({ id, organizationId, name, lastOutcome });
    }
    return [...ways.values()];
  }

  /** A call is a transaction: nothing is to be locked. */
  lockOwners(): void {
    // nothing else runs meanwhile
  }

  lose(ruleIds: readonly string[]): LostRule[] {
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
    this.becomeAbsent(rule, { isMissing: true, isUnmarked: false, isSuspended, dueAt });
    return { id: rule.id, isSuspended };
  }

  private becomeAbsent(rule: RuleRow, more: Partial<RuleRow>): void {
    const mayLand = rule.inFlightUntil !== null && rule.inFlightUntil > this.tables.now();
    const possibleSince = mayLand ? rule.possibleSince : null;
    const nothing = { possibleSince, presentSince: null, observedAt: null, removalSentAt: null };
    Object.assign(rule, { ...nothing, ...more, state: 'absent', revision: rule.revision + 1, attempts: 0 });
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
        // the target's own beginning
        possibleSince: comparedAt ?? 0,
        presentSince: cause === 'ORPHAN' ? now - endedAgoMs : null,
        observedAt: now,
      });
      return [{ ruleId: rule.id, key }];
    });
  }

  noteUnseen(ruleIds: readonly string[]): void {
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
      Object.assign(this.tables.rules.get(id)!, { ...seen, isForeign: true, isUnmarked: false });
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

  unmanaged(targetId: string): { key: string; providerRuleId: string }[] {
    return this.tables.unmanaged
      .filter((rule) => rule.targetId === targetId)
      .map(({ key, providerRuleId }) => ({ key, providerRuleId }));
  }

  addUnmanaged(targetId: string, rules: readonly Unmanaged[], endedAgoMs: number): void {
    const { comparedAt } = this.tables.targets.get(targetId)!;
    const presentSince = this.tables.now() - endedAgoMs;
    for (const { key, providerRuleId } of rules) {
      if (this.tables.unmanaged.some((one) => isSame(one, targetId, { key, providerRuleId }))) continue;
      this.tables.unmanaged.push({ targetId, key, providerRuleId, possibleSince: comparedAt, presentSince });
    }
  }

  removeUnmanaged(targetId: string, rules: readonly Unmanaged[]): void {
    this.tables.unmanaged = this.tables.unmanaged.filter(
      (one) => !rules.some((rule) => isSame(one, targetId, rule)),
    );
  }

  noteMissing(lease: Lease, access: Access, missing: boolean): 'gone' | 'doubted' | null {
    const now = this.tables.now();
    const rules = this.writtenBy(lease, access).filter(
      (rule) => rule.state !== 'absent' && (missing || rule.targetMissingSince !== null),
    );
    for (const rule of rules) rule.targetMissingSince = missing ? (rule.targetMissingSince ?? now) : null;
    if (!missing || rules.length === 0) return null;
    return rules.some((rule) => rule.targetMissingSince! <= now - TARGET_GONE_MS) ? 'gone' : 'doubted';
  }

  presentRules(lease: Lease, access: Access): string[] {
    return this.writtenBy(lease, access)
      .filter(({ state }) => state === 'present')
      .map(({ id }) => id)
      .sort();
  }

  giveUpTarget(lease: Lease, { access, resources }: ReconcileWay): void {
    const now = this.tables.now();
    const isGivenUp = ({ state, dueAt }: RuleRow): boolean =>
      state === 'present' || (state === 'absent' && dueAt !== null && dueAt > now);
    for (const rule of this.writtenBy(lease, access).filter(isGivenUp))
      this.becomeAbsent(rule, { dueAt: now, isMissing: false, isSuspended: false });
    const ids = new Set(resources.map((resource) => resource.id));
    for (const ip of this.tables.ipsWhere((one) => ids.has(one.resourceId) && one.status === 'APPLIED')) {
      this.tables.moveIp(ip, 'PENDING');
      ip.pendingSince = now;
    }
    for (const id of ids)
      Object.assign(this.tables.resources.get(id)!, { isActive: false, writeVerified: false });
  }

  private writtenBy(lease: Lease, { credentialId, region }: Access): RuleRow[] {
    return this.tables
      .rulesOf(lease.targetId)
      .filter((rule) => rule.credentialId === credentialId && rule.region === region);
  }

  report(reports: readonly HealthReport[]): void {
    for (const { resources, eventType, message } of reports) {
      for (const { id } of resources) {
        const resource = this.tables.resources.get(id);
        if (!resource || resource.deletedAt !== null) continue;
        this.tables.health.set(id, [...(this.tables.health.get(id) ?? []), { eventType, message }]);
      }
    }
  }
}

const isSame = (one: UnmanagedRow, targetId: string, { key, providerRuleId }: Unmanaged): boolean =>
  one.targetId === targetId && one.key === key && one.providerRuleId === providerRuleId;
