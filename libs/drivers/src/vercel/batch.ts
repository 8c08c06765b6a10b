import { bisect, ruleKey, type ChangeResult, type RuleSpec } from '#rules';
import { asCallFailure, CallFailure, refused } from '../call-failure';
import { Outcomes } from '../outcomes';
import type { CloudTarget, RuleChange } from '../provider-driver';
import { keyOfCidr } from '../whole-list/plan-rewrite';
import type { FirewallConfig } from './firewall-config';
import {
  allows,
  capacityOf,
  claimedAddresses,
  entryAddress,
  entryId,
  guardRule,
  guardsOf,
  listedAddresses,
  type Guard,
} from './guard';
import type { ProjectFirewall } from './project-firewall';
import type { GuardedPath } from './vercel.facts';

/** An older list is not written back: this process was suspended, and another one may have written. */
const MAX_AGE_MS = 2000;
/** A write, and the read that verifies it. */
const REQUESTS_PER_WRITE = 2;

/** Addresses to remove from the list, and addresses to add to it. */
interface Items {
  readonly removals: readonly string[];
  readonly additions: readonly string[];
}

/** Keys in the outcomes. One batch may remove and add the same address: an addition's key is its `ruleKey`. */
const keysOf = ({ removals, additions }: Items): string[] => [...removals, ...additions.map(keyOfCidr)];

/**
 * One batch of changes of one guard. Vercel has no conditional writes: the list is read, changed, written as a whole,
 * and read again. Bisects a refused batch to isolate a refused address.
 */
export class Batch {
  private readonly outcomes = new Outcomes('Vercel');
  private guards: readonly Guard[];
  private list: ReadonlySet<string>;
  private readAt = performance.now();

  /** @param config just read */
  constructor(
    private readonly firewall: ProjectFirewall,
    private readonly path: GuardedPath,
    private readonly target: Pick<CloudTarget, 'deployment' | 'claims'>,
    config: FirewallConfig,
  ) {
    this.guards = guardsOf(config, path, target.deployment);
    // The guard was deleted: a new one with fewer addresses would block addresses with active access.
    this.list = new Set(
      this.guards.length > 0 ? listedAddresses(this.guards) : claimedAddresses(target.claims),
    );
  }

  /** @throws CallFailure when nothing of it was sent */
  async run(changes: readonly RuleChange[]): Promise<ChangeResult[]> {
    const items = this.plan(changes);
    if (items.removals.length + items.additions.length > 0) {
      const refusal = await this.write(items);
      // Thrown: it carries the delay that Vercel requests.
      if (refusal && !mayConcernItem(refusal)) throw refusal;
      if (refusal) await this.writeInParts(items, refusal);
    }
    return changes.map((change) =>
      this.outcomes.of(change.action === 'add' ? ruleKey(change.spec) : entryAddress(change.providerRuleId)),
    );
  }

  /** Settles what needs no write. @returns the items to write */
  private plan(changes: readonly RuleChange[]): Items {
    const removed = changes.flatMap((change) =>
      change.action === 'remove' ? [entryAddress(change.providerRuleId)] : [],
    );
    const listed = new Set(listedAddresses(this.guards));
    const removals = new Set(removed.filter((address) => listed.has(address)));
    for (const address of removed)
      this.outcomes.done(address, null, listed.has(address) ? {} : { wasAbsent: true });
    this.list = new Set([...this.list].filter((address) => !removed.includes(address)));
    const capacity = capacityOf(this.path);
    const planned = new Set(this.list);
    const additions = new Set<string>();
    for (const change of changes) {
      if (change.action !== 'add') continue;
      const { address } = change.spec;
      if (hasPorts(change.spec)) this.outcomes.failed([ruleKey(change.spec)], PORTS_NOT_SUPPORTED);
      else if (allows(this.guards, address) && !removals.has(address)) this.added(address);
      else if (planned.size >= capacity && !planned.has(address))
        this.outcomes.failed([keyOfCidr(address)], listFull(capacity));
      else {
        additions.add(address);
        planned.add(address);
      }
    }
    return { removals: [...removals], additions: [...additions] };
  }

  /** @returns the refusal of the whole write; null: the outcomes are recorded */
  private async write(items: Items): Promise<CallFailure | null> {
    const list = new Set([...this.list, ...items.additions]);
    const value = guardRule(this.path, this.target.deployment, [...list]);
    const [guard] = this.guards;
    try {
      this.requireTime();
      await this.firewall.change(
        guard ? { action: 'rules.update', id: guard.id, value } : { action: 'rules.insert', id: null, value },
      );
    } catch (error) {
      const failure = asCallFailure(error);
      if (failure.settled) return failure;
      this.outcomes.halt(keysOf(items), failure);
      return null;
    }
    try {
      await this.read();
      if (this.guards.length > 1) await this.removeSurplus();
      this.settle(items, list);
    } catch (error) {
      const failure = asCallFailure(error);
      this.outcomes.haltUnsent([], failure);
      const message = `Written, and not seen: ${failure.message}`;
      this.outcomes.failed(keysOf(items), new CallFailure('transient', message, null, false));
    }
    return null;
  }

  /** Compares the list read after the write with the written one. Only an exact match counts as done. */
  private settle(items: Items, written: ReadonlySet<string>): void {
    const isAsWritten =
      this.guards.length > 0 &&
      this.guards.every(({ isSound }) => isSound) &&
      this.list.size === written.size &&
      [...written].every((address) => allows(this.guards, address));
    if (!isAsWritten) return this.outcomes.failed(keysOf(items), NOT_AS_WRITTEN);
    for (const address of items.removals) this.outcomes.done(address, null);
    for (const address of items.additions) this.added(address);
  }

  /** Removes duplicate guards, left by an insert whose response was lost. Together they allow too few addresses. */
  private async removeSurplus(): Promise<void> {
    for (const { id } of this.guards.slice(1))
      await this.firewall.change({ action: 'rules.remove', id, value: null });
    await this.read();
  }

  /** Writes the removals alone, then bisects the additions to isolate the refused ones. */
  private async writeInParts({ removals, additions }: Items, whole: CallFailure): Promise<void> {
    if (removals.length > 0) {
      const items = { removals, additions: [] };
      const refusal = additions.length > 0 ? await this.write(items) : whole;
      // After a refused removal nothing is added: it could not be removed again.
      if (refusal) this.outcomes.halt(keysOf(items), refusal);
    }
    await bisect(additions, whole, this.writeAdditions, (part, refusal) => this.settleRefused(part, refusal));
  }

  /** @returns the refusal when it may concern only some of the additions */
  private writeAdditions = async (additions: readonly string[]): Promise<CallFailure | null> => {
    const items = { removals: [], additions };
    if (this.outcomes.haltedBy) {
      this.outcomes.unsent(keysOf(items));
      return null;
    }
    const refusal = await this.write(items);
    if (!refusal || mayConcernItem(refusal)) return refusal;
    this.outcomes.halt(keysOf(items), refusal);
    return null;
  };

  /** A single refused address is settled. After `quota`, the list has no room for the next ones either. */
  private settleRefused(additions: readonly string[], refusal: CallFailure): boolean {
    if (additions.length > 1) return false;
    const keys = additions.map(keyOfCidr);
    if (refusal.kind === 'quota') this.outcomes.halt(keys, refusal);
    else this.outcomes.failed(keys, refusal);
    return true;
  }

  /** @throws CallFailure when it is too late for a write */
  private requireTime(): void {
    if (performance.now() - this.readAt > MAX_AGE_MS)
      throw refused('transient', 'The list was read too long ago to be written');
    if (!this.firewall.api.deadline.hasTimeFor(REQUESTS_PER_WRITE))
      throw refused('transient', 'The changes before it took all the time');
  }

  private async read(): Promise<void> {
    const config = await this.firewall.read();
    this.readAt = performance.now();
    this.guards = guardsOf(config, this.path, this.target.deployment);
    this.list = new Set(listedAddresses(this.guards));
  }

  private added(address: string): void {
    const [guard] = this.guards;
    this.outcomes.done(keyOfCidr(address), entryId(guard!.id, address));
  }
}

const hasPorts = ({ protocol, ports }: RuleSpec): boolean => protocol !== 'all' || ports.length > 0;

const PORTS_NOT_SUPPORTED = refused('invalid', 'A firewall rule of Vercel knows no ports');

const NOT_AS_WRITTEN = new CallFailure(
  'transient',
  'Vercel took the change, and the rule does not show it',
  null,
  false,
);

const listFull = (capacity: number): CallFailure =>
  refused('quota', `The firewall rule holds ${capacity} addresses, and no more`);

/** The refusal may be caused by a single address. */
const mayConcernItem = ({ kind }: CallFailure): boolean => kind === 'invalid' || kind === 'quota';
