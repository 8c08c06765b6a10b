import {
  toDueRule,
  type ConvergenceStore,
  type DueRuleRow,
  type HolderRow,
  type Intent,
  type Lease,
} from '#engine-store';
import { portsText } from '#rules';
import type { Modelled } from './modelled';
import { endOf, HOLDING, type RuleHolderRow, type RuleRow, type Tables } from './tables';

const COMPARE_AFTER_WRITE_MS = 45_000;
const MAX_IN_FLIGHT_MS = 10 * 60_000;

/** `ConvergenceStore` in memory. */
export class ModelConvergence implements Modelled<ConvergenceStore> {
  constructor(private readonly tables: Tables) {}

  due(lease: Lease, limit: number): DueRuleRow[] {
    const now = this.tables.now();
    return this.tables
      .rulesOf(lease.targetId)
      .filter((rule) => rule.dueAt !== null && rule.dueAt <= now)
      .map((rule) => ({ rule, desired: this.tables.isDesired(rule) }))
      .sort(
        (a, b) =>
          Number(a.desired) - Number(b.desired) ||
          a.rule.dueAt! - b.rule.dueAt! ||
          (a.rule.id < b.rule.id ? -1 : 1),
      )
      .slice(0, limit)
      .map(({ rule }) => this.row(rule, now));
  }

  possiblyPresent(lease: Lease): Pick<DueRuleRow, 'ruleId' | 'key' | 'state' | 'isUnmanaged'>[] {
    return this.tables
      .rulesOf(lease.targetId)
      .filter(({ state }) => state !== 'absent')
      .map(({ id, key, state, isUnmanaged }) => ({ ruleId: id, key, state, isUnmanaged }));
  }

  private row(rule: RuleRow, now: number): DueRuleRow {
    const { spec, credentialId } = rule;
    return toDueRule({
      ruleId: rule.id,
      key: rule.key,
      address: spec.address,
      protocol: spec.protocol,
      ports: portsText(spec.ports),
      state: rule.state,
      isUnmanaged: rule.isUnmanaged,
      revision: rule.revision,
      attempts: rule.attempts,
      inFlightMs: this.inFlightMs(rule, now),
      targetMissingMs: rule.targetMissingSince === null ? null : now - rule.targetMissingSince,
      providerRuleId: rule.providerRuleId,
      credentialId,
      region: rule.region,
      writerOrganizationId:
        credentialId && (this.tables.credentials.get(credentialId)?.organizationId ?? null),
      lastError: rule.lastError,
      cause: rule.cause,
      isUnwanted: rule.unwantedSince !== null,
      isMissing: rule.isMissing,
      isUnmarked: rule.isUnmarked,
      holders: this.tables.holderRows(rule).flatMap((holder) => this.holder(holder, now)),
    });
  }

  private inFlightMs({ targetId, inFlightUntil }: RuleRow, now: number): number | null {
    const { inFlightUntil: listUntil } = this.tables.targets.get(targetId)!;
    const longest = now + MAX_IN_FLIGHT_MS;
    const ends = [
      ...(inFlightUntil === null ? [] : [inFlightUntil <= longest ? inFlightUntil : now]),
      ...(listUntil === null || listUntil < now || listUntil > longest ? [] : [listUntil]),
    ];
    return ends.length === 0 ? null : Math.max(...ends) - now;
  }

  private holder({ resourceIpId, cause, releasedAt }: RuleHolderRow, now: number): HolderRow[] {
    const ip = this.tables.resourceIps.get(resourceIpId)!;
    if (!HOLDING.has(ip.status) && ip.status !== 'REMOVING') return [];
    const { credentialId, region, config, organizationId, writeVerified } = this.tables.resources.get(
      ip.resourceId,
    )!;
    const session = ip.sessionId === null ? null : this.tables.sessions.get(ip.sessionId)!;
    return [
      {
        resourceIpId: ip.id,
        status: releasedAt === null ? ip.status : 'REMOVING',
        pendingSince: `${ip.pendingSince}`,
        cause: cause!,
        access: { credentialId, region, organizationId },
        writeVerified,
        abandoned: null,
        config,
        expiresAt: session && Math.round(session.expiresAt / 1000),
        expired: session !== null && endOf(session) <= now,
      },
    ];
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
    const inDoubtUntil = target.inFlightUntil;
    target.lastWriteAt = now;
    target.inFlightUntil = changes.wholeList ? now + horizonSeconds * 1000 : null;
    target.reconcileDueAt = Math.min(target.reconcileDueAt, now + COMPARE_AFTER_WRITE_MS);
    target.lastWriteSize = changes.additions.length + changes.removals.length;
    target.promptWrites = changes.promptWrites;
    const [added, removed] = [new Set(changes.additions), new Set(changes.removals)];
    const known = [...new Set([...added, ...removed])]
      .flatMap((id) => this.tables.rules.get(id) ?? [])
      .filter(
        (rule) =>
          removed.has(rule.id) || this.tables.holderRows(rule).some(({ releasedAt }) => releasedAt === null),
      );
    for (const rule of known) {
      this.noteSent(rule, added.has(rule.id), removed.has(rule.id), now);
      if (added.has(rule.id)) {
        const providerRuleId = rule.isUnmanaged ? null : rule.providerRuleId;
        Object.assign(rule, { ...changes.access, isUnmanaged: false, providerRuleId });
      }
      Object.assign(rule, { state: 'unknown', inFlightUntil: now + horizonSeconds * 1000 });
    }
    return {
      inDoubtUntil: inDoubtUntil === null ? null : new Date(inDoubtUntil),
      ruleIds: known.map(({ id }) => id),
    };
  }

  /** Sets since when the access is possible, and since when it is not certain any more. */
  private noteSent(rule: RuleRow, isAdded: boolean, isRemoved: boolean, now: number): void {
    const wasAbsent = rule.state === 'absent';
    if (isAdded) rule.possibleSince ??= now;
    if (isAdded) Object.assign(rule, { presentSince: null, observedAt: null });
    if (isRemoved) rule.removalSentAt ??= now;
    else if (wasAbsent) rule.removalSentAt = null;
  }

  confirmWrite(lease: Lease, { inDoubtUntil }: Intent): void {
    const target = this.tables.targets.get(lease.targetId)!;
    if (`${target.leaseGeneration}` === lease.generation)
      target.inFlightUntil = inDoubtUntil === null ? null : inDoubtUntil.getTime();
  }
}
