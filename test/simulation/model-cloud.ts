import type { ObservedRule } from '#rules';

export interface CloudRule extends ObservedRule {
  /** put there by another hand than the engine's */
  readonly planted: boolean;
  /** another hand changed its address under its id */
  readonly changed: boolean;
}

/** The engine put it there and it is as it was, whatever its mark says; or it carries our mark. */
export const isOurs = ({ planted, changed, ownRuleId }: CloudRule): boolean =>
  !changed && (!planted || ownRuleId !== null);

/** Who changed a target; `late`: the engine, by a call that nobody heard of. */
export type Hand = 'engine' | 'late' | 'outside';

/** Told of everything that happens to a target, at the moment it happens. */
export interface CloudWatcher {
  added(object: CloudObject, rule: CloudRule, hand: Hand): void;
  removed(object: CloudObject, rule: CloudRule, hand: Hand): void;
}

/** One target as it is: the ground truth. */
export class CloudObject {
  private readonly rules = new Map<string, CloudRule>();
  private numbered = 0;
  isGone = false;
  /** rules the object may hold */
  quota = 60;

  constructor(
    readonly identifier: string,
    private readonly watcher: CloudWatcher,
  ) {}

  list(): CloudRule[] {
    return [...this.rules.values()];
  }

  standing(key: string): CloudRule[] {
    return this.list().filter((rule) => rule.key === key);
  }

  /** Adding what exists changes nothing. @returns the provider's id of what stands then */
  add(key: string, ownRuleId: string | null, hand: Hand): string {
    const stands = this.standing(key)[0];
    if (stands) return stands.providerRuleId;
    this.numbered += 1;
    const providerRuleId = `${this.identifier}-r${this.numbered}`;
    const rule = { key, ownRuleId, providerRuleId, planted: hand === 'outside', changed: false };
    this.rules.set(providerRuleId, rule);
    this.watcher.added(this, rule, hand);
    return providerRuleId;
  }

  /** Removing what is absent changes nothing. */
  remove(providerRuleId: string, hand: Hand): void {
    const rule = this.rules.get(providerRuleId);
    if (!rule) return;
    this.rules.delete(providerRuleId);
    this.watcher.removed(this, rule, hand);
  }

  /** Another hand takes our mark off. */
  unmark(providerRuleId: string): void {
    this.rules.set(providerRuleId, { ...this.rules.get(providerRuleId)!, ownRuleId: null });
  }

  /** Another hand changes what it lets in; its id and its mark stay. */
  change(providerRuleId: string, key: string): void {
    const rule = this.rules.get(providerRuleId)!;
    const changed = { ...rule, key, planted: true, changed: true };
    this.rules.set(providerRuleId, changed);
    this.watcher.removed(this, rule, 'outside');
    this.watcher.added(this, changed, 'outside');
  }

  empty(): void {
    for (const { providerRuleId } of this.list()) this.remove(providerRuleId, 'outside');
  }
}
