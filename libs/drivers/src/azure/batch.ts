import { parseRuleKey, ruleKey } from '#rules';
import { asCallFailure, CallFailure, refused } from '../call-failure';
import { Outcomes } from '../outcomes';
import type { Deadline } from '../deadline';
import type { AddChange, RemoveChange } from '../provider-driver';
import { PRIORITY_TAKEN, SCOPE_LOCKED } from './azure-errors';
import type { NetworkSecurityGroup } from './network-security-group';
import { nextFree, priorityWindow, type PriorityWindow } from './priorities';
import {
  hasOurName,
  isAsWritten,
  isNeutral,
  isOurs,
  neutralRuleOf,
  observedRules,
  ruleName,
  securityRuleOf,
  type GroupRule,
} from './rule-mapping';

/** Shown to users, on a ResourceIp whose rule could not be deleted. */
export const NEUTRALISED =
  'A delete lock keeps the rule object, which admits no traffic any more: it is deleted when the lock is gone';

const MAX_ATTEMPTS = 5;

/**
 * Applies one batch of changes to one group sequentially: a group processes one change at a time. Plans with the rules
 * that were read before the first change.
 */
export class Batch {
  readonly outcomes = new Outcomes('Azure');
  private quotaFailure: CallFailure | null = null;

  constructor(
    private readonly group: NetworkSecurityGroup,
    private rules: readonly GroupRule[],
    private readonly deployment: string,
    private readonly deadline: Deadline,
  ) {}

  async remove({ providerRuleId: name, ruleId }: RemoveChange): Promise<void> {
    const existing = this.rules.find((rule) => rule.name === name);
    // Our names contain a hash: a rule that has one was ours, whatever it lets in now.
    if (existing && !isOurs(existing, this.deployment) && !hasOurName(existing, this.deployment)) {
      const message = `${name} is not ours: it has neither our mark nor a name of ours`;
      return this.outcomes.failed([name], refused('conflict', message));
    }
    if (!this.outcomes.maySend(name, this.deadline)) return;
    try {
      const more = await this.removeOrNeutralise(name, existing, ruleId);
      this.rules = this.rules.filter((rule) => rule.name !== name);
      this.outcomes.done(name, null, more);
    } catch (error) {
      this.outcomes.failedOrHalted(name, asCallFailure(error));
    }
  }

  /** @returns what is left behind, and whether there was nothing to remove */
  private async removeOrNeutralise(
    name: string,
    existing: GroupRule | undefined,
    ruleId: string,
  ): Promise<{ note?: string; wasAbsent?: true }> {
    try {
      return (await this.group.remove(name)) ? {} : { wasAbsent: true };
    } catch (error) {
      if (asCallFailure(error).code !== SCOPE_LOCKED || !existing) throw error;
      const mark = { deployment: this.deployment, ruleId, expiresAt: null };
      if (!isNeutral(existing, this.deployment))
        await this.group.write(name, neutralRuleOf(mark, existing.priority));
      return { note: NEUTRALISED };
    }
  }

  async add(change: AddChange): Promise<void> {
    const key = ruleKey(change.spec);
    if (this.outcomes.has(key)) return;
    const changed = this.rules.find(({ name }) => change.replaces?.includes(name));
    const existing = changed ?? this.findExisting(key);
    if (existing?.state === 'updating') {
      const updating = new CallFailure('transient', 'Azure is still writing this rule', null, false);
      return this.outcomes.failed([key], updating);
    }
    if (existing && !changed && this.inForce(key)) return this.outcomes.done(key, existing.name);
    if (this.quotaFailure) return this.outcomes.failed([key], this.quotaFailure);
    if (!this.outcomes.maySend(key, this.deadline)) return;
    try {
      await this.write(change, existing);
    } catch (error) {
      const failure = asCallFailure(error);
      if (failure.kind === 'quota') this.quotaFailure = failure;
      this.outcomes.failedOrHalted(key, failure);
    }
  }

  /**
   * Writes a rule. If another writer took the priority since the read, reads the rules again and retries.
   * @param drifted our existing rule, to be overwritten
   */
  private async write({ spec, mark, config }: AddChange, drifted: GroupRule | undefined): Promise<void> {
    const name = drifted?.name ?? this.freeName(ruleName(spec, this.deployment));
    const window = priorityWindow(config);
    let priority = drifted?.priority ?? this.freePriority(window);
    for (let tries = 1; ; tries += 1) {
      const rule = securityRuleOf(spec, mark, priority);
      try {
        await this.group.write(name, rule);
        break;
      } catch (error) {
        const failure = asCallFailure(error);
        if (failure.code !== PRIORITY_TAKEN || tries >= MAX_ATTEMPTS || !this.deadline.hasTimeFor(1))
          throw failure;
        this.rules = await this.group.readRules().catch((readError: unknown) => {
          throw asCallFailure(readError).unsent;
        });
        priority = this.freePriority(window, priority);
      }
    }
    const kind = { isInbound: true, isDeny: false, namedSources: [], isForInternet: false, isPlain: true };
    this.rules = [
      ...this.rules.filter((rule) => rule.name !== name),
      { ...kind, ...spec, name, priority, mark, keys: [ruleKey(spec)], traffic: [spec], state: 'settled' },
    ];
    this.outcomes.done(ruleKey(spec), name, drifted ? {} : { isNew: true });
  }

  /** @param reported a priority that Azure reported as taken, even if the rule list does not show it */
  private freePriority(window: PriorityWindow, reported?: number): number {
    const taken = new Set(this.rules.filter(({ isInbound }) => isInbound).map(({ priority }) => priority));
    if (reported !== undefined) taken.add(reported);
    const free = nextFree(window, taken);
    if (free !== null) return free;
    const message = `No priority from ${window.from} to ${window.to} is free in the network security group`;
    throw refused('quota', message);
  }

  /** Adds a number to a name that is taken by a rule we must not overwrite. */
  private freeName(desired: string): string {
    const taken = new Set(this.rules.map(({ name }) => name.toLowerCase()));
    let name = desired;
    for (let number = 2; taken.has(name.toLowerCase()); number += 1) name = `${desired}-${number}`;
    return name;
  }

  /** The existing rule for a key: ours, marked or not, or what a removal left of it, else an unmanaged one that is in force. */
  private findExisting(key: string): GroupRule | undefined {
    const own = this.rules.find(
      (rule) => rule.isInbound && this.isOwn(rule) && rule.keys.length === 1 && rule.keys[0] === key,
    );
    if (own) return own;
    const locked = ruleName(parseRuleKey(key), this.deployment);
    const leftover = this.rules.find(
      (rule) => rule.name.startsWith(locked) && isNeutral(rule, this.deployment),
    );
    if (leftover) return leftover;
    const observed = observedRules(this.rules, this.deployment).find(
      (rule) => rule.key === key && rule.inForce !== false,
    );
    return this.rules.find(({ name }) => name === observed?.providerRuleId);
  }

  private isOwn(rule: GroupRule): boolean {
    return isOurs(rule, this.deployment) || isAsWritten(rule, this.deployment);
  }

  private inForce(key: string): boolean {
    return observedRules(this.rules, this.deployment).some(
      (rule) => rule.key === key && rule.inForce !== false,
    );
  }
}
