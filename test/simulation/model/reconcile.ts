import type {
  Access,
  BegunReconcile,
  Lease,
  NamingResource,
  ReconcileOutcome,
  ReconcileStore,
  ReconcileWay,
  Trail,
} from '#entities';
import { parseRuleKey, TARGET_GONE_MS, type Drift, type KnownRule, type RenamedRule } from '#rules';
import type { Modelled } from './modelled';
import type { RuleRow, Tables } from './tables';

const EVERY_MS = 45_000;
const UNREACHABLE_EVERY_MS = 10 * 60_000;
const BROKEN_OFF_MS = 30_000;
const HOUR_MS = 60 * 60_000;
const MOST_FIGHTS = 3;

/** `ReconcileStore` in memory. */
export class ModelReconcile implements Modelled<ReconcileStore> {
  constructor(private readonly tables: Tables) {}

  begin(lease: Lease): BegunReconcile | null {
    const now = this.tables.now();
    const target = this.tables.targets.get(lease.targetId)!;
    if (`${target.leaseGeneration}` !== lease.generation || target.reconcileDueAt > now) return null;
    target.reconcileDueAt = now + BROKEN_OFF_MS;
    return { requested: target.reconcileRequested, againAt: `${target.reconcileDueAt}` };
  }

  finish(targetId: string, { againAt }: BegunReconcile): void {
    const target = this.tables.targets.get(targetId)!;
    if (`${target.reconcileDueAt}` !== againAt) return;
    target.reconcileDueAt = this.tables.now() + EVERY_MS;
    target.reconcileRequested = false;
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
      target.reconcileDueAt = this.tables.now() + Math.max(UNREACHABLE_EVERY_MS, EVERY_MS);
  }

  known(lease: Lease): KnownRule[] {
    return this.tables.rulesOf(lease.targetId).map((rule) => ({
      ruleId: rule.id,
      key: rule.key,
      state: rule.state,
      wanted: this.tables.isWanted(rule),
      isForeign: rule.isForeign,
      providerRuleId: rule.providerRuleId,
    }));
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
      ways.get(`${credentialId} ${region}`)!.resources.push({ id, organizationId, name });
    }
    return [...ways.values()];
  }

  makeDue(lease: Lease, drift: Drift, access: Access): string[] {
    const now = this.tables.now();
    const lost = drift.missing
      .map((id) => this.tables.rules.get(id)!)
      .filter((rule) => rule.state === 'present');
    const damped = lost.filter((rule) => this.lose(rule, now));
    for (const rule of drift.lingering.map((id) => this.tables.rules.get(id)!)) {
      if (rule.state !== 'absent') continue;
      if (rule.credentialId === null) Object.assign(rule, access);
      const revision = rule.revision + 1;
      Object.assign(rule, { state: 'present', dueAt: now, revision, attempts: 0, closing: true });
    }
    this.takeOver(lease.targetId, drift, access);
    for (const id of drift.taken) this.tables.rules.get(id)!.isForeign = true;
    this.rename(drift.renamed);
    return damped.map((rule) => rule.id);
  }

  /** @returns whether it is left alone for now */
  private lose(rule: RuleRow, now: number): boolean {
    const fighting = rule.lostAt !== null && rule.lostAt > now - HOUR_MS;
    const dueAt = fighting && rule.lostCount >= MOST_FIGHTS ? rule.lostAt! + HOUR_MS : now;
    rule.lostCount = fighting ? rule.lostCount + 1 : 1;
    if (!fighting) rule.lostAt = now;
    Object.assign(rule, { state: 'absent', revision: rule.revision + 1, attempts: 0, dueAt });
    return dueAt > now;
  }

  private takeOver(targetId: string, drift: Drift, access: Access): void {
    const known = new Set(this.tables.rulesOf(targetId).map((rule) => rule.key));
    for (const { key, providerRuleId } of drift.orphans.filter((orphan) => !known.has(orphan.key))) {
      const id = this.tables.newId();
      this.tables.rules.set(id, {
        id,
        targetId,
        key,
        spec: parseRuleKey(key),
        state: 'present',
        isForeign: false,
        providerRuleId,
        ...access,
        dueAt: this.tables.now(),
        closing: true,
        revision: 0,
        attempts: 0,
        inFlightUntil: null,
        lastError: null,
        lostCount: 0,
        lostAt: null,
        targetMissingSince: null,
        holders: new Set(),
      });
    }
  }

  private rename(renamed: readonly RenamedRule[]): void {
    const rules = renamed.map(({ ruleId, providerRuleId }) =>
      Object.assign(this.tables.rules.get(ruleId)!, { providerRuleId }),
    );
    const shown = new Set(rules.flatMap((rule) => this.tables.holdersOf(rule)));
    for (const ip of shown) {
      if (ip.status !== 'APPLIED') continue;
      const held = this.tables.heldBy(ip).toSorted((a, b) => (a.key < b.key ? -1 : 1));
      ip.providerRuleId = held.flatMap((rule) => rule.providerRuleId ?? []).join(',');
    }
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

  giveUpTarget(lease: Lease, { access, resources }: ReconcileWay): void {
    const now = this.tables.now();
    const isGivenUp = ({ state, dueAt }: RuleRow): boolean =>
      state === 'present' || (state === 'absent' && dueAt !== null && dueAt > now);
    for (const rule of this.writtenBy(lease, access).filter(isGivenUp)) {
      Object.assign(rule, { state: 'absent', dueAt: now, revision: rule.revision + 1, attempts: 0 });
    }
    const ids = new Set(resources.map((resource) => resource.id));
    for (const ip of this.tables.ipsWhere((one) => ids.has(one.resourceId) && one.status === 'APPLIED')) {
      this.tables.moveIp(ip, 'PENDING');
      ip.pendingSince = now;
    }
    for (const id of ids) this.tables.resources.get(id)!.isActive = false;
  }

  private writtenBy(lease: Lease, { credentialId, region }: Access): RuleRow[] {
    return this.tables
      .rulesOf(lease.targetId)
      .filter((rule) => rule.credentialId === credentialId && rule.region === region);
  }

  record({ resources, message }: ReconcileOutcome, always: boolean): void {
    for (const { id } of resources) {
      const resource = this.tables.resources.get(id);
      if (!resource || resource.deletedAt !== null) continue;
      const told = this.tables.health.get(id) ?? [];
      const same = told.length > 0 && (told.at(-1) === null) === (message === null);
      if (always || !same) this.tables.health.set(id, [...told, message]);
    }
  }

  auditOrphans(trail: Trail, drift: Drift, resources: readonly NamingResource[]): void {
    if (drift.orphans.length === 0) return;
    for (const { id, organizationId } of resources) {
      this.tables.audit.push({ organizationId, eventType: 'RULE_ORPHAN_REMOVED', resourceId: id, trail });
    }
  }
}
