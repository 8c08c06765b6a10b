import type { ObservedRule } from '#rules';

export interface CloudRule extends ObservedRule {
  /** another program than the engine added it */
  readonly planted: boolean;
  /** another program changed its address under the same id */
  readonly changed: boolean;
}

/** Whether the engine added the rule, with or without its mark, whatever it lets in now; or it carries our mark. */
export const isOurs = ({ planted, ownRuleId }: CloudRule): boolean => !planted || ownRuleId !== null;

/** What changed a target; `late`: an in-doubt call of the engine. */
export type Actor = 'engine' | 'late' | 'outside';

/** Is notified of every change of a target when it happens. */
export interface CloudWatcher {
  added(target: ModelTarget, rule: CloudRule, actor: Actor): void;
  removed(target: ModelTarget, rule: CloudRule, actor: Actor): void;
}

/** One target as it is: the ground truth. */
export class ModelTarget {
  private readonly rules = new Map<string, CloudRule>();
  private rulesAdded = 0;
  isMissing = false;
  /** maximum number of rules */
  quota = 60;

  constructor(
    readonly identifier: string,
    private readonly watcher: CloudWatcher,
  ) {}

  list(): CloudRule[] {
    return [...this.rules.values()];
  }

  rulesWith(key: string): CloudRule[] {
    return this.list().filter((rule) => rule.key === key);
  }

  /** Idempotent. @returns the provider's id of the rule */
  add(key: string, ownRuleId: string | null, actor: Actor, endsAt?: number): string {
    const ends = endsAt === undefined ? {} : { endsAt };
    const present = this.rulesWith(key)[0];
    if (present) {
      if (present.ownRuleId !== null) this.rules.set(present.providerRuleId, { ...present, ...ends });
      return present.providerRuleId;
    }
    this.rulesAdded += 1;
    const providerRuleId = `${this.identifier}-r${this.rulesAdded}`;
    const rule = { key, ownRuleId, providerRuleId, planted: actor === 'outside', changed: false, ...ends };
    this.rules.set(providerRuleId, rule);
    this.watcher.added(this, rule, actor);
    return providerRuleId;
  }

  /** Idempotent. */
  remove(providerRuleId: string, actor: Actor): void {
    const rule = this.rules.get(providerRuleId);
    if (!rule) return;
    this.rules.delete(providerRuleId);
    this.watcher.removed(this, rule, actor);
  }

  /** Another program removes our mark. */
  unmark(providerRuleId: string): void {
    this.rules.set(providerRuleId, { ...this.rules.get(providerRuleId)!, ownRuleId: null });
  }

  /** Another program changes what the rule allows; its id and its mark stay. */
  change(providerRuleId: string, key: string): void {
    const rule = this.rules.get(providerRuleId)!;
    const changed = { ...rule, key, changed: true };
    this.rules.set(providerRuleId, changed);
    this.watcher.removed(this, rule, 'outside');
    this.watcher.added(this, changed, 'outside');
  }

  removeAll(): void {
    for (const { providerRuleId } of this.list()) this.remove(providerRuleId, 'outside');
  }
}
