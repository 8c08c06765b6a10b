import type { ChangeResult } from '#rules';
import type { RuleChange } from '../provider-driver';
import { entryAddress } from './guard';

/** Addresses to be taken off a list, and such to be put on it. */
export interface Items {
  readonly removals: readonly string[];
  readonly additions: readonly string[];
}

/** What became of each change of one batch. */
export class Outcomes {
  private readonly removed = new Map<string, ChangeResult>();
  private readonly added = new Map<string, ChangeResult>();

  removal(address: string, result: ChangeResult): void {
    this.removed.set(address, result);
  }

  addition(address: string, result: ChangeResult): void {
    this.added.set(address, result);
  }

  all({ removals, additions }: Items, result: ChangeResult): void {
    for (const address of removals) this.removed.set(address, result);
    for (const address of additions) this.added.set(address, result);
  }

  of(change: RuleChange): ChangeResult {
    const result =
      change.action === 'add'
        ? this.added.get(change.spec.address)
        : this.removed.get(entryAddress(change.providerRuleId));
    return result ?? { result: 'unknown', message: 'Nothing is known of this change' };
  }
}
