import type { ResourceIp, ResourceIpState, ChangedRows, Holder, Loaded } from '#engine-store';
import {
  canHoldRule,
  DETACHING_CAUSES,
  grouped,
  isHolding,
  type ResourceIpStatus,
  type Rule,
  type TargetRule,
} from '#rules';
import type { Settlement } from './settlement';

/** The rows of `Loaded`, changed in memory until they are saved. */
export class TargetRows {
  private readonly rules: Map<string, TargetRule>;
  private readonly addresses: Map<string, ResourceIp>;
  private readonly byRule: ReadonlyMap<string, Holder[]>;
  private readonly byAddress: ReadonlyMap<string, Holder[]>;
  private readonly before = new Map<string, TargetRule>();
  private readonly was = new Map<string, ResourceIp>();
  private readonly ended = new Set<Holder>();

  constructor(readonly loaded: Loaded) {
    this.rules = new Map(loaded.rules.map((rule) => [rule.id, rule]));
    this.addresses = new Map(loaded.addresses.map((address) => [address.id, address]));
    this.byRule = grouped(loaded.holders, ({ ruleId }) => ruleId);
    this.byAddress = grouped(loaded.holders, ({ resourceIpId }) => resourceIpId);
  }

  /** As it is now; undefined: it is not among the rows. */
  rule(id: string): TargetRule | undefined {
    return this.rules.get(id);
  }

  /** As it was loaded. */
  ruleBefore(id: string): TargetRule {
    return this.before.get(id) ?? this.rules.get(id)!;
  }

  address(id: string): ResourceIp {
    return this.addresses.get(id)!;
  }

  holdersOf(ruleId: string): readonly Holder[] {
    return this.byRule.get(ruleId) ?? [];
  }

  heldBy(addressId: string): readonly Holder[] {
    return this.byAddress.get(addressId) ?? [];
  }

  addressesOf(ruleId: string, isMeant: (address: ResourceIp, holder: Holder) => boolean): ResourceIp[] {
    return this.holdersOf(ruleId)
      .map((holder) => [this.address(holder.resourceIpId), holder] as const)
      .filter(([address, holder]) => isMeant(address, holder))
      .map(([address]) => address);
  }

  /** Makes a move with each of these rules that is among the rows. @returns those it changed */
  make(ruleIds: Iterable<string>, move: (rule: TargetRule) => Rule): TargetRule[] {
    return [...ruleIds].flatMap((id) => {
      const rule = this.rules.get(id);
      const moved = rule && move(rule);
      if (!rule || !moved || moved === rule) return [];
      const next = { ...rule, ...moved };
      if (!this.before.has(id)) this.before.set(id, rule);
      this.rules.set(id, next);
      return [next];
    });
  }

  change(addressId: string, change: Partial<ResourceIpState>): void {
    const address = this.address(addressId);
    if (!this.was.has(addressId)) this.was.set(addressId, address);
    this.addresses.set(addressId, { ...address, ...change });
  }

  /** Its addresses wait for their rules again. */
  returnToPending(ruleId: string, change: Partial<ResourceIpState> = {}): ResourceIp[] {
    const applied = this.addressesOf(
      ruleId,
      ({ status }, { releasedAt }) => status === 'APPLIED' && releasedAt === null,
    );
    const { now } = this.loaded;
    for (const { id } of applied) this.change(id, { status: 'PENDING', pendingSince: now, ...change });
    return applied;
  }

  /** The applied addresses of the rule show the provider ids of all their rules. */
  rename(ruleId: string): void {
    for (const { id } of this.addressesOf(ruleId, ({ status }) => status === 'APPLIED')) {
      const held = this.heldBy(id).flatMap((holder) =>
        holder.releasedAt === null ? (this.rule(holder.ruleId) ?? []) : [],
      );
      const ids = held
        .toSorted((one, other) => (one.key < other.key ? -1 : 1))
        .flatMap(({ providerRuleId }) => providerRuleId ?? []);
      if (held.length > 0) this.change(id, { providerRuleId: ids.join(',') || null });
    }
  }

  end(holder: Holder): void {
    this.ended.add(holder);
  }

  isHeld(ruleId: string): boolean {
    return this.holdersOf(ruleId).some((holder) => !this.ended.has(holder));
  }

  /** What is to be saved. */
  get changed(): ChangedRows {
    return {
      rules: [...this.before.keys()].map((id) => this.rules.get(id)!),
      addresses: [...this.was].map(([id, { status }]) => ({ ...this.addresses.get(id)!, was: status })),
      ended: [...this.ended],
    };
  }
}

/** A holder of a rule of an affected address. */
export interface AffectedHolder {
  readonly ruleId: string;
  readonly resourceIpId: string;
  readonly status: ResourceIpStatus;
  readonly organizationId: string;
  readonly writeVerified: boolean;
  /** released here while its address continues on another target */
  readonly isDetached: boolean;
  /** not released, and its address is PENDING or APPLIED */
  readonly isLive: boolean;
  /** PENDING for this pass since before the pass began */
  readonly waits: boolean;
}

/** Everything a settlement may move, and the state that decides it. */
export interface Affected {
  readonly ips: readonly ResourceIp[];
  readonly holders: readonly AffectedHolder[];
  /** ordered by key; a due rule outside this pass is `unknown`, unless the last read shows it: it may be gone by now */
  readonly rules: readonly TargetRule[];
}

const isDetached = ({ releaseCause }: Holder): boolean =>
  DETACHING_CAUSES.some((cause) => cause === releaseCause);

/**
 * The addresses of the settled rules whose status may change: those being removed, and those that wait for this pass through
 * their own access path.
 */
export function affectedBy(
  rows: TargetRows,
  { ruleIds, since = null, access = null, isShown = () => false }: Settlement,
): Affected {
  const own = ruleIds.flatMap((id) => rows.holdersOf(id));
  const wanting = new Set(own.flatMap((one) => (one.releasedAt === null ? [one.resourceIpId] : [])));
  const { now } = rows.loaded;
  // in the future: since before the end of a suspension
  const hasWaited = ({ pendingSince }: ResourceIp): boolean =>
    since === null || pendingSince <= since || pendingSince > now;
  const waits = (ip: ResourceIp): boolean => ip.status === 'PENDING' && wanting.has(ip.id) && hasWaited(ip);
  const isOwnPath = ({ resource }: ResourceIp): boolean =>
    access === null ||
    (resource?.access.credentialId === access.credentialId && resource.access.region === access.region);
  const ips = [...new Set(own.map(({ resourceIpId }) => resourceIpId))]
    .toSorted()
    .map((id) => rows.address(id))
    .filter((address) => address.status === 'REMOVING' || (waits(address) && isOwnPath(address)));
  const held = new Set([
    ...ips.flatMap(({ id }) => rows.heldBy(id)).map(({ ruleId }) => ruleId),
    ...own.filter(isDetached).map(({ ruleId }) => ruleId),
  ]);
  const rules = rows.loaded.rules.filter(({ id }) => held.has(id)).map(({ id }) => rows.rule(id)!);
  const settled = new Set(ruleIds);
  const mayBeGone = (rule: TargetRule): boolean =>
    rule.state === 'present' && rule.dueAt !== null && !settled.has(rule.id) && !isShown(rule);
  return {
    ips,
    holders: rules.flatMap(({ id }) =>
      rows.holdersOf(id).map((holder): AffectedHolder => {
        const address = rows.address(holder.resourceIpId);
        const { status, organizationId, resource } = address;
        return {
          ruleId: id,
          resourceIpId: address.id,
          status,
          organizationId,
          writeVerified: resource?.writeVerified ?? false,
          isDetached: isDetached(holder),
          isLive: holder.releasedAt === null && isHolding(status),
          waits: waits(address),
        };
      }),
    ),
    rules: rules.map((rule) => (mayBeGone(rule) ? { ...rule, state: 'unknown' } : rule)),
  };
}

/**
 * Holders that moved away or were refused, of rules with other live holders: they need not wait for a removal. A ResourceIp
 * that is being removed keeps its holder until a settlement decides its status too: one without holders is never read again.
 * @param failed ResourceIps that fail in this settlement
 */
export function supersededHolders(
  { ips, holders, rules }: Affected,
  failed: ReadonlySet<string>,
): readonly AffectedHolder[] {
  const hasLeft = ({ isDetached: isGone, status, resourceIpId }: AffectedHolder): boolean =>
    isGone || status === 'FAILED' || failed.has(resourceIpId);
  const ruleOf = new Map(rules.map((rule) => [rule.id, rule]));
  const kept = new Set(
    holders
      .filter(
        (holder) => holder.isLive && !hasLeft(holder) && canHoldRule(holder, ruleOf.get(holder.ruleId)!),
      )
      .map(({ ruleId }) => ruleId),
  );
  const decided = new Set(ips.map(({ id }) => id));
  return holders.filter(
    (holder) =>
      hasLeft(holder) &&
      kept.has(holder.ruleId) &&
      (holder.status !== 'REMOVING' || decided.has(holder.resourceIpId)),
  );
}
