import { asCallFailure, CallFailure } from '../call-failure';
import type { Outcomes } from '../outcomes';
import { ENTRY_MISMATCH } from './aws-errors';
import { divide } from './divide';
import type { PrefixList } from './prefix-list';

export interface EntryRemoval {
  readonly action: 'remove';
  /** of its outcome */
  readonly key: string;
  /** as EC2 spells it */
  readonly cidr: string;
}

export interface EntryAddition {
  readonly action: 'add';
  /** of its outcome */
  readonly key: string;
  readonly cidr: string;
  readonly description: string;
  readonly providerRuleId: string;
}

type Item = EntryRemoval | EntryAddition;

/** The most that EC2 takes in one call, additions and removals together. */
const CALL_SIZE = 100;

const keysOf = (items: readonly Item[]): string[] => items.map(({ key }) => key);

/**
 * Changes a list from one version, each call from the version that the one before made. Whoever else changes the
 * list meanwhile makes the next call a conflict: then nothing more is sent.
 */
export class PrefixListChange {
  /** no newer version stood when a change was made of this one */
  private isProven = false;

  /** @param sendUntil on the clock of `performance.now`: later nothing is sent, for nobody may wait for it any more */
  constructor(
    private readonly list: PrefixList,
    private version: number,
    private readonly sendUntil: number,
    private readonly outcomes: Outcomes,
  ) {}

  /** Removals go first, with additions in the same call where there is place. */
  async run(removals: readonly EntryRemoval[], additions: readonly EntryAddition[]): Promise<void> {
    const removed = new Set(removals.map(({ cidr }) => cidr));
    // EC2 takes no address that leaves and enters in one call.
    const fresh = additions.filter(({ cidr }) => !removed.has(cidr));
    const again = additions.filter(({ cidr }) => removed.has(cidr));
    for (const batch of [...cut([...removals, ...fresh]), ...cut(again)]) {
      const failure = await this.send(batch);
      if (failure) await divide(batch, failure, this.send, (part, refusal) => this.settle(part, refusal));
    }
  }

  /**
   * Entries that the version does not have, and that are to be gone. A change made of it says that there was no newer
   * one; else EC2 is asked to take them out, one by one: they may have come with a version that was not shown yet.
   */
  async settleMissing(removals: readonly EntryRemoval[]): Promise<void> {
    for (const removal of removals) {
      if (this.isProven) this.outcomes.done(removal.key, null);
      else await this.removeMissing(removal);
    }
  }

  private async removeMissing(removal: EntryRemoval): Promise<void> {
    const failure = await this.send([removal]);
    if (failure?.code === ENTRY_MISMATCH) this.outcomes.done(removal.key, null);
    else if (failure) this.outcomes.failed([removal.key], failure);
  }

  /** @returns the refusal, when a part of the entries may still be changed, or was gone already */
  private send = async (items: readonly Item[]): Promise<CallFailure | null> => {
    if (!this.maySend(items)) return null;
    try {
      await this.change(items);
      for (const item of items)
        this.outcomes.done(item.key, item.action === 'add' ? item.providerRuleId : null);
      return null;
    } catch (error) {
      const failure = asCallFailure(error);
      const isOne = items.length === 1 && failure.code === ENTRY_MISMATCH;
      if (failure.kind === 'invalid' || failure.kind === 'quota' || isOne) return failure;
      this.outcomes.halt(keysOf(items), failure);
      return null;
    }
  };

  private maySend(items: readonly Item[]): boolean {
    if (!this.outcomes.haltedBy && performance.now() <= this.sendUntil) return true;
    const words = `${this.list.listId} takes long to change`;
    if (this.outcomes.haltedBy) this.outcomes.unsent(keysOf(items));
    else this.outcomes.haltUnsent(keysOf(items), new CallFailure('conflict', words, null, true));
    return false;
  }

  private async change(items: readonly Item[]): Promise<void> {
    await this.list.modify(this.version, {
      remove: items.flatMap(({ action, cidr }) => (action === 'remove' ? [{ Cidr: cidr }] : [])),
      add: items.flatMap((item) =>
        item.action === 'add' ? [{ Cidr: item.cidr, Description: item.description }] : [],
      ),
    });
    await this.list.whenChanged(this.version);
    this.version += 1;
    this.isProven = true;
  }

  private settle(part: readonly Item[], refusal: CallFailure): boolean {
    const isFull = refusal.kind === 'quota' && part.every(({ action }) => action === 'add');
    if (part.length > 1 && !isFull) return false;
    this.outcomes.failed(keysOf(part), refusal);
    return true;
  }
}

function cut(items: readonly Item[]): Item[][] {
  return Array.from({ length: Math.ceil(items.length / CALL_SIZE) }, (_, index) =>
    items.slice(index * CALL_SIZE, (index + 1) * CALL_SIZE),
  );
}
