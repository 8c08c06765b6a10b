import type { Address, AddressState, ChangedRows, Holder, Loaded, TargetRule } from '#engine-store';
import { grouped, type Rule } from '#rules';

/** Rules, holders and addresses of a target, changed in memory until they are saved. */
export class TargetRows {
  private readonly rules: Map<string, TargetRule>;
  private readonly addresses: Map<string, Address>;
  private readonly byRule: ReadonlyMap<string, Holder[]>;
  private readonly byAddress: ReadonlyMap<string, Holder[]>;
  private readonly before = new Map<string, TargetRule>();
  private readonly was = new Map<string, Address>();
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

  address(id: string): Address {
    return this.addresses.get(id)!;
  }

  holdersOf(ruleId: string): readonly Holder[] {
    return this.byRule.get(ruleId) ?? [];
  }

  heldBy(addressId: string): readonly Holder[] {
    return this.byAddress.get(addressId) ?? [];
  }

  addressesOf(ruleId: string, isMeant: (address: Address, holder: Holder) => boolean): Address[] {
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

  change(addressId: string, change: Partial<AddressState>): void {
    const address = this.address(addressId);
    if (!this.was.has(addressId)) this.was.set(addressId, address);
    this.addresses.set(addressId, { ...address, ...change });
  }

  /** Its addresses wait for their rules again. */
  returnToPending(ruleId: string, change: Partial<AddressState> = {}): Address[] {
    const applied = this.addressesOf(
      ruleId,
      ({ status }, { releasedAt }) => status === 'APPLIED' && releasedAt === null,
    );
    const { now } = this.loaded;
    for (const { id } of applied) this.change(id, { status: 'PENDING', pendingSince: now, ...change });
    return applied;
  }

  /** The addresses of the rule that are not over show a message. */
  note(ruleId: string, errorMessage: string): void {
    const shown = this.addressesOf(ruleId, ({ status }) => status !== 'REMOVED' && status !== 'FAILED');
    for (const { id } of shown) this.change(id, { errorMessage });
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
