import type { ConvergenceStore, DueRuleRow, HolderRow, Intent, Lease } from '#entities';
import type { Modelled } from './modelled';
import { HOLDING, type ResourceIpRow, type RuleRow, type Tables } from './tables';

const LOOK_AFTER_WRITE_MS = 45_000;

/** `ConvergenceStore` in memory. */
export class ModelConvergence implements Modelled<ConvergenceStore> {
  constructor(private readonly tables: Tables) {}

  due(lease: Lease, limit: number): DueRuleRow[] {
    const now = this.tables.now();
    return this.tables
      .rulesOf(lease.targetId)
      .filter((rule) => rule.dueAt !== null && rule.dueAt <= now)
      .map((rule) => ({ rule, wanted: this.tables.isWanted(rule) }))
      .sort(
        (a, b) =>
          Number(a.wanted) - Number(b.wanted) ||
          a.rule.dueAt! - b.rule.dueAt! ||
          (a.rule.id < b.rule.id ? -1 : 1),
      )
      .slice(0, limit)
      .map(({ rule, wanted }) => this.row(rule, wanted, now));
  }

  standing(lease: Lease): Pick<DueRuleRow, 'ruleId' | 'key' | 'state' | 'isForeign'>[] {
    return this.tables
      .rulesOf(lease.targetId)
      .filter(({ state }) => state !== 'absent')
      .map(({ id, key, state, isForeign }) => ({ ruleId: id, key, state, isForeign }));
  }

  private row(rule: RuleRow, wanted: boolean, now: number): DueRuleRow {
    const holders = this.tables
      .holdersOf(rule)
      .filter((ip) => HOLDING.has(ip.status) || ip.status === 'REMOVING')
      .map((ip) => this.holder(ip, now));
    const listUntil = this.tables.targets.get(rule.targetId)!.inFlightUntil ?? now;
    const inFlightMs = Math.max(0, Math.max(rule.inFlightUntil ?? now, listUntil) - now);
    return {
      ruleId: rule.id,
      key: rule.key,
      wanted,
      mayOpen: holders.some((holder) => HOLDING.has(holder.status) && !holder.expired),
      inFlight: inFlightMs > 0,
      inFlightMs,
      unheard: rule.inFlightUntil !== null || listUntil > now,
      targetMissingMs: rule.targetMissingSince === null ? null : now - rule.targetMissingSince,
      seenAs: rule.isForeign ? null : rule.providerRuleId,
      spec: rule.spec,
      state: rule.state,
      isForeign: rule.isForeign,
      revision: rule.revision,
      attempts: rule.attempts,
      writtenWith: rule.credentialId ? { credentialId: rule.credentialId, region: rule.region } : null,
      holders,
    };
  }

  private holder(ip: ResourceIpRow, now: number): HolderRow {
    const { credentialId, region, config } = this.tables.resources.get(ip.resourceId)!;
    const expiresAt = ip.sessionId === null ? null : this.tables.sessions.get(ip.sessionId)!.expiresAt;
    return {
      resourceIpId: ip.id,
      status: ip.status,
      pendingSince: `${ip.pendingSince}`,
      access: { credentialId, region },
      config,
      expiresAt: expiresAt === null ? null : Math.round(expiresAt / 1000),
      expired: expiresAt !== null && expiresAt <= now,
    };
  }

  recordIntent(
    lease: Lease,
    changes: Parameters<ConvergenceStore['recordIntent']>[2],
    horizonSeconds: number,
  ): Intent | null {
    const now = this.tables.now();
    const target = this.tables.targets.get(lease.targetId)!;
    const held = `${target.leaseGeneration}` === lease.generation && (target.leaseUntil ?? 0) > now;
    if (!held) return null;
    const unheardUntil = target.inFlightUntil;
    target.lastWriteAt = now;
    target.inFlightUntil = changes.wholeList ? now + horizonSeconds * 1000 : null;
    target.reconcileDueAt = Math.min(target.reconcileDueAt, now + LOOK_AFTER_WRITE_MS);
    target.lastWriteSize = changes.additions.length + changes.removals.length;
    // what the database does not know is taken out without a note
    const known = [...changes.removals, ...changes.additions].flatMap(
      (id) => this.tables.rules.get(id) ?? [],
    );
    for (const rule of known) {
      const inFlightUntil = now + horizonSeconds * 1000;
      Object.assign(rule, { state: 'unknown', inFlightUntil });
    }
    for (const id of changes.additions) {
      const rule = this.tables.rules.get(id)!;
      const providerRuleId = rule.isForeign ? null : rule.providerRuleId;
      Object.assign(rule, { ...changes.access, isForeign: false, providerRuleId });
    }
    if (known.length === 0) return null;
    return { unheardUntil: unheardUntil === null ? null : new Date(unheardUntil) };
  }

  heard(lease: Lease, { unheardUntil }: Intent): void {
    const target = this.tables.targets.get(lease.targetId)!;
    if (`${target.leaseGeneration}` === lease.generation)
      target.inFlightUntil = unheardUntil === null ? null : unheardUntil.getTime();
  }

  lookAgain(ruleIds: readonly string[]): void {
    for (const id of ruleIds) {
      const rule = this.tables.rules.get(id)!;
      rule.state = 'unknown';
      rule.dueAt = this.tables.now();
      rule.revision += 1;
    }
  }

  putOff(
    { ruleId, revision }: Pick<DueRuleRow, 'ruleId' | 'revision'>,
    message: string,
    seconds: number,
  ): void {
    const rule = this.tables.rules.get(ruleId);
    if (rule?.revision !== revision) return;
    rule.attempts += 1;
    rule.dueAt = this.tables.now() + seconds * 1000;
    rule.lastError = message;
  }
}
