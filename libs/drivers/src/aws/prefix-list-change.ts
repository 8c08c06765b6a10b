import { bisect } from '#rules';
import { asCallFailure, type CallFailure } from '../call-failure';
import type { Outcomes } from '../outcomes';
import { ENTRY_MISMATCH } from './aws-errors';
import type { PrefixList } from './prefix-list';

export interface EntryRemoval {
  readonly action: 'remove';
  /** key in the outcomes */
  readonly key: string;
  /** in EC2's spelling */
  readonly cidr: string;
}

export interface EntryAddition {
  readonly action: 'add';
  /** key in the outcomes */
  readonly key: string;
  readonly cidr: string;
  readonly description: string;
  readonly providerRuleId: string;
}

type Item = EntryRemoval | EntryAddition;

/** EC2's limit for one call, additions and removals together. */
const MAX_ITEMS_PER_CALL = 100;

const keysOf = (items: readonly Item[]): string[] => items.map(({ key }) => key);

/**
 * Changes a list starting at one version. Each call is based on the version that the previous call created. If another
 * writer changes the list meanwhile, the next call is a conflict, and no further call is sent.
 */
export class PrefixListChange {
  /** a change based on this version succeeded: no newer version existed */
  private isVersionCurrent = false;

  constructor(
    private readonly list: PrefixList,
    private version: number,
    private readonly outcomes: Outcomes,
  ) {}

  /** Sends removals first. A call is filled up with additions. */
  async run(removals: readonly EntryRemoval[], additions: readonly EntryAddition[]): Promise<void> {
    const removed = new Set(removals.map(({ cidr }) => cidr));
    // EC2 refuses to remove and add the same address in one call.
    const added = additions.filter(({ cidr }) => !removed.has(cidr));
    const replaced = additions.filter(({ cidr }) => removed.has(cidr));
    for (const batch of [...chunksOf([...removals, ...added]), ...chunksOf(replaced)]) {
      const failure = await this.send(batch);
      if (failure) await bisect(batch, failure, this.send, (part, refusal) => this.settle(part, refusal));
    }
  }

  /**
   * Settles removals of entries that the observed version does not contain. If a change based on that version
   * succeeded, no newer version existed. Otherwise EC2 is asked to remove the entries one by one, because a newer
   * version that the read did not show may contain them.
   */
  async settleMissing(removals: readonly EntryRemoval[]): Promise<void> {
    for (const removal of removals) {
      if (this.isVersionCurrent) this.outcomes.done(removal.key, null);
      else await this.removeMissing(removal);
    }
  }

  private async removeMissing(removal: EntryRemoval): Promise<void> {
    const failure = await this.send([removal]);
    if (failure?.code === ENTRY_MISMATCH) this.outcomes.done(removal.key, null);
    else if (failure) this.outcomes.failed([removal.key], failure);
  }

  /** @returns the refusal when some of the entries may still be changed, or the only one is already gone */
  private send = async (items: readonly Item[]): Promise<CallFailure | null> => {
    if (this.outcomes.haltedBy) {
      this.outcomes.unsent(keysOf(items));
      return null;
    }
    try {
      await this.change(items);
      for (const item of items)
        this.outcomes.done(item.key, item.action === 'add' ? item.providerRuleId : null);
      return null;
    } catch (error) {
      const failure = asCallFailure(error);
      const isSingleMismatch = items.length === 1 && failure.code === ENTRY_MISMATCH;
      if (failure.kind === 'invalid' || failure.kind === 'quota' || isSingleMismatch) return failure;
      this.outcomes.halt(keysOf(items), failure);
      return null;
    }
  };

  private async change(items: readonly Item[]): Promise<void> {
    await this.list.modify(this.version, {
      remove: items.flatMap(({ action, cidr }) => (action === 'remove' ? [{ Cidr: cidr }] : [])),
      add: items.flatMap((item) =>
        item.action === 'add' ? [{ Cidr: item.cidr, Description: item.description }] : [],
      ),
    });
    await this.list.waitUntilChanged(this.version);
    this.version += 1;
    this.isVersionCurrent = true;
  }

  private settle(part: readonly Item[], refusal: CallFailure): boolean {
    const isFull = refusal.kind === 'quota' && part.every(({ action }) => action === 'add');
    if (part.length > 1 && !isFull) return false;
    this.outcomes.failed(keysOf(part), refusal);
    return true;
  }
}

function chunksOf(items: readonly Item[]): Item[][] {
  return Array.from({ length: Math.ceil(items.length / MAX_ITEMS_PER_CALL) }, (_, index) =>
    items.slice(index * MAX_ITEMS_PER_CALL, (index + 1) * MAX_ITEMS_PER_CALL),
  );
}
