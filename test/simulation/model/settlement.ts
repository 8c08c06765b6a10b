import type {
  Affected,
  AffectedHolder,
  HolderRow,
  IpMove,
  Lease,
  RuleEnd,
  SettlementStore,
} from '#engine-store';
import { DETACHING_CAUSES, grouped, type RemovalCause, type Access, type RuleSettlement } from '#rules';
import { releaseClaims } from './holders';
import type { Modelled } from './modelled';
import type { ResourceIpRow, RuleHolderRow, RuleRow, Tables } from './tables';

const byKey = (one: RuleRow, other: RuleRow): number => (one.key < other.key ? -1 : 1);

const isDetached = ({ releaseCause }: { readonly releaseCause: RemovalCause | null }): boolean =>
  DETACHING_CAUSES.some((cause) => cause === releaseCause);

type Waiting = readonly Pick<HolderRow, 'resourceIpId' | 'pendingSince'>[];

/** `SettlementStore` in memory. */
export class ModelSettlements implements Modelled<SettlementStore> {
  constructor(private readonly tables: Tables) {}

  /** A model call is a transaction: no lock is needed. */
  lockOwners(): void {
    // nothing runs concurrently
  }

  alignRetries({ targetId }: Lease, found: readonly RuleSettlement[]): void {
    const now = this.tables.now();
    const passed = new Set(found.map(({ ruleId }) => ruleId));
    const dueAt = now + Math.max(...found.map(({ dueInMs }) => dueInMs ?? 0));
    for (const rule of this.tables.rulesOf(targetId)) {
      if (passed.has(rule.id) || rule.isSuspended || rule.attempts === 0) continue;
      if (rule.dueAt !== null && rule.dueAt > now) rule.dueAt = dueAt;
    }
  }

  affected(
    ruleIds: readonly string[],
    waiting: Waiting,
    access: Access | null,
    giveUpSeconds: number,
  ): Affected {
    const passed = new Set(ruleIds);
    const since = new Map(waiting.map((ip) => [ip.resourceIpId, ip.pendingSince]));
    const waits = ({ id, status, pendingSince }: ResourceIpRow): boolean =>
      status === 'PENDING' && since.get(id) === `${pendingSince}`;
    const own = ruleIds.flatMap((id) => this.tables.holderRows({ id }));
    const touched = [...new Set(own.map(({ resourceIpId }) => resourceIpId))]
      .sort()
      .map((id) => this.tables.resourceIps.get(id)!)
      .filter((ip) => ip.status === 'REMOVING' || (waits(ip) && this.isOwnWay(ip, access)));
    const held = new Set([
      ...touched.flatMap((ip) => this.tables.holdersBy(ip)).map(({ ruleId }) => ruleId),
      ...own.filter(isDetached).map(({ ruleId }) => ruleId),
    ]);
    const rules = [...held].map((id) => this.tables.rules.get(id)!).sort(byKey);
    return {
      ips: touched.map(
        ({ id, organizationId, sessionId, staticIpRuleId, status, givenUp, pendingSince, errorMessage }) => ({
          id,
          organizationId,
          sessionId,
          staticIpRuleId,
          status,
          givenUp,
          timedOut: pendingSince < this.tables.now() - giveUpSeconds * 1000,
          errorMessage,
        }),
      ),
      holders: rules.flatMap((rule) =>
        this.tables.holderRows(rule).map((holder) => this.affectedHolder(holder, waits)),
      ),
      rules: rules.map((rule) => ({
        ruleId: rule.id,
        key: rule.key,
        isUnmanaged: rule.isUnmanaged,
        state:
          rule.dueAt !== null && !passed.has(rule.id) && rule.state === 'present' ? 'unknown' : rule.state,
        writerOrganizationId:
          rule.credentialId && (this.tables.credentials.get(rule.credentialId)?.organizationId ?? null),
        providerRuleId: rule.providerRuleId,
        lastError: rule.lastError,
      })),
    };
  }

  private isOwnWay({ resourceId }: ResourceIpRow, access: Access | null): boolean {
    if (access === null) return true;
    const resource = this.tables.resources.get(resourceId);
    return resource?.credentialId === access.credentialId && resource.region === access.region;
  }

  private affectedHolder(holder: RuleHolderRow, waits: (ip: ResourceIpRow) => boolean): AffectedHolder {
    const ip = this.tables.resourceIps.get(holder.resourceIpId)!;
    return {
      ruleId: holder.ruleId,
      resourceIpId: ip.id,
      status: ip.status,
      organizationId: ip.organizationId,
      writeVerified: this.tables.resources.get(ip.resourceId)?.writeVerified ?? false,
      isDetached: isDetached(holder),
      isLive: this.tables.isLive(holder),
      waits: waits(ip),
    };
  }

  noteEnds(ends: readonly RuleEnd[]): void {
    const released = ends.flatMap((end) =>
      this.tables
        .holderRows({ id: end.ruleId })
        .flatMap((holder) => (holder.releasedAt === null ? [] : [{ end, holder }])),
    );
    for (const [id, own] of grouped(released, ({ holder }) => holder.resourceIpId)) {
      const ip = this.tables.resourceIps.get(id)!;
      if (ip.status === 'REMOVED' || ip.status === 'FAILED') continue;
      ip.givenUp ??= own.flatMap(({ end }) => end.givenUp ?? []).toSorted()[0] ?? null;
      const names = [...new Set(own.flatMap(({ end }) => end.stillAllowedBy ?? []))].toSorted();
      if (ip.status === 'REMOVING' && ip.appliedAt !== null) ip.stillAllowedBy ??= names.join(', ') || null;
    }
  }

  listUnmanaged(ruleIds: readonly string[]): void {
    for (const id of ruleIds) {
      const { targetId, key, providerRuleId, possibleSince, presentSince } = this.tables.rules.get(id)!;
      const target = this.tables.targets.get(targetId)!;
      const isListed = this.tables.unmanaged.some((one) => one.targetId === targetId && one.key === key);
      if (presentSince === null || providerRuleId === null || isListed) continue;
      const since = Math.min(target.comparedAt ?? Infinity, possibleSince ?? Infinity);
      this.tables.unmanaged.push({
        targetId,
        key,
        providerRuleId,
        possibleSince: since === Infinity ? null : since,
        presentSince,
      });
      target.unmanagedDigest = null;
    }
  }

  moveIps(moves: readonly IpMove[]): number[] {
    const now = this.tables.now();
    return moves.flatMap(({ id, from, to, errorMessage, providerRuleId }) => {
      const ip = this.tables.resourceIps.get(id);
      if (ip?.status !== from) return [];
      if (to !== from) this.tables.moveIp(ip, to);
      ip.errorMessage = errorMessage;
      if (to === 'APPLIED') Object.assign(ip, { providerRuleId, appliedAt: now, givenUp: null });
      if (to !== 'REMOVED') return [];
      ip.removedAt = now;
      return ip.releasedAt === null ? [] : [(now - ip.releasedAt) / 1000];
    });
  }

  releaseRefused(resourceIpIds: readonly string[]): void {
    releaseClaims(
      this.tables,
      'ADD_REFUSED',
      resourceIpIds.flatMap((id) => this.tables.holdersBy({ id })),
    );
  }

  returnToPending(lease: Lease, ruleIds: readonly string[]): void {
    const target = this.tables.targets.get(lease.targetId)!;
    const isHeld =
      `${target.leaseGeneration}` === lease.generation && (target.leaseUntil ?? 0) > this.tables.now();
    if (!isHeld) return;
    const holders = ruleIds.flatMap((id) => this.tables.holderRows({ id }));
    for (const { resourceIpId } of holders.filter(({ releasedAt }) => releasedAt === null)) {
      const ip = this.tables.resourceIps.get(resourceIpId)!;
      if (ip.status !== 'APPLIED') continue;
      this.tables.moveIp(ip, 'PENDING');
      Object.assign(ip, { pendingSince: this.tables.now(), appliedAt: null, providerRuleId: null });
    }
  }

  renameIps(ruleIds: readonly string[]): void {
    const shown = new Set(
      ruleIds.flatMap((id) => this.tables.holderRows({ id })).map(({ resourceIpId }) => resourceIpId),
    );
    for (const id of shown) {
      const ip = this.tables.resourceIps.get(id)!;
      const live = this.tables.holdersBy(ip).filter(({ releasedAt }) => releasedAt === null);
      if (ip.status !== 'APPLIED' || live.length === 0) continue;
      const held = live.map(({ ruleId }) => this.tables.rules.get(ruleId)!).sort(byKey);
      ip.providerRuleId = held.flatMap((rule) => rule.providerRuleId ?? []).join(',') || null;
    }
  }

  noteOnIps(notes: readonly { readonly ruleId: string; readonly message: string }[]): void {
    for (const { ruleId, message } of notes) {
      for (const { resourceIpId } of this.tables.holderRows({ id: ruleId })) {
        const ip = this.tables.resourceIps.get(resourceIpId)!;
        if (ip.status !== 'REMOVED' && ip.status !== 'FAILED') ip.errorMessage = message;
      }
    }
  }

  deleteHolders(
    ended: readonly string[],
    kept: readonly Pick<AffectedHolder, 'ruleId' | 'resourceIpId'>[],
    absent: readonly string[],
  ): void {
    const isOver = (holder: RuleHolderRow): boolean => {
      const { ruleId, resourceIpId, releaseCause, releasedAt } = holder;
      const isRefused = releaseCause === 'ADD_REFUSED' && this.tables.rules.get(ruleId)!.state !== 'absent';
      return (
        (ended.includes(resourceIpId) && !isRefused && !isDetached(holder)) ||
        (absent.includes(ruleId) && releasedAt !== null) ||
        kept.some((one) => one.ruleId === ruleId && one.resourceIpId === resourceIpId)
      );
    };
    for (const holder of this.tables.allHolders().filter(isOver)) this.tables.deleteHolder(holder);
  }
}

/** Whether the rule is observed absent, not due, without a holder and without a call in flight. */
export const isForgettable = (tables: Tables, rule: RuleRow): boolean =>
  rule.state === 'absent' &&
  rule.dueAt === null &&
  (rule.inFlightUntil === null || rule.inFlightUntil <= tables.now()) &&
  tables.holderRows(rule).length === 0;
