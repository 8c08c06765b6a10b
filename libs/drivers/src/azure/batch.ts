import { ruleKey, type ChangeResult } from '#rules';
import { asCallFailure, CallFailure } from '../call-failure';
import { Outcomes } from '../outcomes';
import type { RuleChange } from '../provider-driver';
import { PRIORITY_TAKEN } from './azure-errors';
import type { Deadline } from './deadline';
import type { NetworkSecurityGroup } from './network-security-group';
import { nextFree, priorityWindow, type PriorityWindow } from './priorities';
import { isAsWritten, isOurs, observedRules, ruleName, securityRuleOf, type GroupRule } from './rule-mapping';

type AddChange = Extract<RuleChange, { action: 'add' }>;

const MAX_ATTEMPTS = 5;

/**
 * One batch of changes on one group, one after another: a group takes a single change at a time. Knows what stands in
 * it from one read before the first change.
 */
export class Batch {
  private readonly outcomes = new Outcomes('Azure');
  private full: CallFailure | null = null;

  constructor(
    private readonly group: NetworkSecurityGroup,
    private rules: readonly GroupRule[],
    private readonly deployment: string,
    private readonly deadline: Deadline,
  ) {}

  /** The failure after which nothing more was sent. */
  get failure(): CallFailure | null {
    return this.outcomes.haltedBy;
  }

  async remove(name: string): Promise<void> {
    const standing = this.rules.find((rule) => rule.name === name);
    // Names can be used again, and rules edited: without our mark it goes only as what we wrote under that name.
    if (standing && !this.isOwn(standing)) {
      const words = `${name} no longer lets in what it was written for, and does not carry our mark`;
      return this.outcomes.failed([name], new CallFailure('conflict', words, null, true));
    }
    if (!this.maySend(name)) return;
    try {
      await this.group.remove(name);
      this.rules = this.rules.filter((rule) => rule.name !== name);
      this.outcomes.done(name, null);
    } catch (error) {
      this.failed(name, asCallFailure(error));
    }
  }

  async add(change: AddChange): Promise<void> {
    const key = ruleKey(change.spec);
    if (this.outcomes.has(key)) return;
    const standing = this.standing(key);
    if (standing && standing.state === 'moving') {
      const moving = new CallFailure('transient', 'Azure is still writing this rule', null, false);
      return this.outcomes.failed([key], moving);
    }
    if (standing && this.inForce(key)) return this.outcomes.done(key, standing.name);
    if (this.full) return this.outcomes.failed([key], this.full);
    if (!this.maySend(key)) return;
    try {
      await this.write(change, standing);
    } catch (error) {
      const failure = asCallFailure(error);
      if (failure.kind === 'quota') this.full = failure;
      this.failed(key, failure);
    }
  }

  /** @param key a removal's rule name, or an addition's `ruleKey` */
  of(key: string): ChangeResult {
    return this.outcomes.of(key);
  }

  /** Someone may take a priority between the read and the write: then the rules are read again. */
  private async write({ spec, mark, config }: AddChange, bent: GroupRule | undefined): Promise<void> {
    const name = bent?.name ?? this.freeName(ruleName(spec, this.deployment));
    const window = priorityWindow(config);
    let priority = bent?.priority ?? this.priority(window);
    for (let tries = 1; ; tries += 1) {
      const rule = securityRuleOf(spec, mark, priority);
      try {
        await this.group.write(name, rule);
        break;
      } catch (error) {
        const failure = asCallFailure(error);
        if (failure.code !== PRIORITY_TAKEN || tries >= MAX_ATTEMPTS || !this.deadline.hasTime) throw failure;
        this.rules = await this.group.readRules().catch((unread: unknown) => {
          throw asCallFailure(unread).unsent;
        });
        priority = this.priority(window, priority);
      }
    }
    const keys = [ruleKey(spec)];
    this.rules = [
      ...this.rules.filter((rule) => rule.name !== name),
      { name, priority, isInbound: true, isDeny: false, keys, isPlain: true, state: 'settled', mark },
    ];
    this.outcomes.done(ruleKey(spec), name);
  }

  /** @param refused a priority that Azure says is taken, whatever the list shows */
  private priority(window: PriorityWindow, refused?: number): number {
    const taken = new Set(this.rules.filter(({ isInbound }) => isInbound).map(({ priority }) => priority));
    if (refused !== undefined) taken.add(refused);
    const free = nextFree(window, taken);
    if (free !== null) return free;
    const words = `No priority from ${window.from} to ${window.to} is free in the network security group`;
    throw new CallFailure('quota', words, null, true);
  }

  /** A rule of that name that is not ours to write over keeps it. */
  private freeName(desired: string): string {
    const taken = new Set(this.rules.map(({ name }) => name.toLowerCase()));
    let name = desired;
    for (let number = 2; taken.has(name.toLowerCase()); number += 1) name = `${desired}-${number}`;
    return name;
  }

  /** The rule that stands for an opening: ours when there is one, marked or not, else one of others that is in force. */
  private standing(key: string): GroupRule | undefined {
    const own = this.rules.find(
      (rule) => rule.isInbound && this.isOwn(rule) && rule.keys.length === 1 && rule.keys[0] === key,
    );
    if (own) return own;
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

  private maySend(key: string): boolean {
    if (!this.outcomes.haltedBy && !this.deadline.hasTime) {
      const late = new CallFailure('transient', 'The changes before it took all the time', null, true);
      this.outcomes.haltUnsent([], late);
    }
    this.outcomes.unsent([key]);
    return this.outcomes.haltedBy === null;
  }

  /** What concerns this one change alone does not keep the next ones from being sent. */
  private failed(key: string, failure: CallFailure): void {
    const isAlone = failure.settled && (failure.kind === 'invalid' || failure.kind === 'quota');
    if (isAlone) this.outcomes.failed([key], failure);
    else this.outcomes.halt([key], failure);
  }
}
