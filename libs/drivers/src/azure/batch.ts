import { ruleKey, type ChangeResult } from '#rules';
import type { RuleChange } from '../provider-driver';
import { AzureFailure, PRIORITY_TAKEN } from './azure-errors';
import type { Deadline } from './deadline';
import type { NetworkSecurityGroup } from './network-security-group';
import { nextFree, priorityWindow, type PriorityWindow } from './priorities';
import { isOurs, observedRules, ruleName, securityRuleOf, type GroupRule } from './rule-mapping';

type AddChange = Extract<RuleChange, { action: 'add' }>;

const MOST_TRIES = 5;

/**
 * One batch of changes on one group, one after another: a group takes a single change at a time. Knows what stands in
 * it from one read before the first change.
 */
export class Batch {
  private readonly results = new Map<string, ChangeResult>();
  private haltedBy: AzureFailure | null = null;
  private full: AzureFailure | null = null;

  constructor(
    private readonly group: NetworkSecurityGroup,
    private rules: readonly GroupRule[],
    private readonly deployment: string,
    private readonly deadline: Deadline,
  ) {}

  /** The failure after which nothing more was sent. */
  get failure(): AzureFailure | null {
    return this.haltedBy;
  }

  async remove(name: string): Promise<void> {
    const standing = this.rules.find((rule) => rule.name === name);
    // Names can be used again: what stands under it now is someone else's, and ours is gone.
    if (standing && !isOurs(standing, this.deployment)) return this.done(name, null);
    if (!this.maySend(name)) return;
    try {
      await this.group.remove(name);
      this.rules = this.rules.filter((rule) => rule.name !== name);
      this.done(name, null);
    } catch (error) {
      this.failed(name, asFailure(error));
    }
  }

  async add(change: AddChange): Promise<void> {
    const key = ruleKey(change.spec);
    if (this.results.has(key)) return;
    const standing = this.standing(key);
    if (standing && standing.state === 'moving') {
      this.results.set(key, { result: 'unknown', message: 'Azure is still writing this rule' });
      return;
    }
    if (standing && this.inForce(key)) return this.done(key, standing.name);
    if (this.full) return this.refuse(key, this.full);
    if (!this.maySend(key)) return;
    try {
      await this.write(change, standing);
    } catch (error) {
      const failure = asFailure(error);
      if (failure.kind === 'quota') this.full = failure;
      this.failed(key, failure);
    }
  }

  /** @param key a removal's rule name, or an addition's `ruleKey` */
  of(key: string): ChangeResult {
    return this.results.get(key) ?? { result: 'unknown', message: 'Azure did not mention this rule' };
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
        const failure = asFailure(error);
        if (failure.code !== PRIORITY_TAKEN || tries >= MOST_TRIES || !this.deadline.hasTime) throw failure;
        this.rules = await this.group.readRules().catch((unread: unknown) => {
          throw unsent(asFailure(unread));
        });
        priority = this.priority(window, priority);
      }
    }
    const keys = [ruleKey(spec)];
    this.rules = [
      ...this.rules.filter((rule) => rule.name !== name),
      { name, priority, isInbound: true, isDeny: false, keys, isPlain: true, state: 'settled', mark },
    ];
    this.done(ruleKey(spec), name);
  }

  /** @param refused a priority that Azure says is taken, whatever the list shows */
  private priority(window: PriorityWindow, refused?: number): number {
    const taken = new Set(this.rules.filter(({ isInbound }) => isInbound).map(({ priority }) => priority));
    if (refused !== undefined) taken.add(refused);
    const free = nextFree(window, taken);
    if (free !== null) return free;
    const words = `No priority from ${window.from} to ${window.to} is free in the network security group`;
    throw new AzureFailure('quota', words, null, true);
  }

  /** A rule of that name that is not ours to write over keeps it. */
  private freeName(wanted: string): string {
    const taken = new Set(this.rules.map(({ name }) => name.toLowerCase()));
    let name = wanted;
    for (let number = 2; taken.has(name.toLowerCase()); number += 1) name = `${wanted}-${number}`;
    return name;
  }

  /** The rule that stands for an opening: ours when there is one, else one of others that is in force. */
  private standing(key: string): GroupRule | undefined {
    const own = this.rules.find(
      (rule) =>
        rule.isInbound && isOurs(rule, this.deployment) && rule.keys.length === 1 && rule.keys[0] === key,
    );
    if (own) return own;
    const observed = observedRules(this.rules, this.deployment).find(
      (rule) => rule.key === key && rule.inForce !== false,
    );
    return this.rules.find(({ name }) => name === observed?.providerRuleId);
  }

  private inForce(key: string): boolean {
    return observedRules(this.rules, this.deployment).some(
      (rule) => rule.key === key && rule.inForce !== false,
    );
  }

  private maySend(key: string): boolean {
    if (!this.haltedBy && !this.deadline.hasTime) {
      this.haltedBy = new AzureFailure('transient', 'The changes before it took all the time', null, true);
    }
    if (!this.haltedBy) return true;
    this.refuse(key, unsent(this.haltedBy));
    return false;
  }

  private done(key: string, providerRuleId: string | null): void {
    this.results.set(key, { result: 'done', providerRuleId });
  }

  private refuse(key: string, failure: AzureFailure): void {
    this.results.set(key, failure.changeResult);
  }

  /** What concerns this one change alone does not keep the next ones from being sent. */
  private failed(key: string, failure: AzureFailure): void {
    this.results.set(key, failure.changeResult);
    const isAlone = failure.settled && (failure.kind === 'invalid' || failure.kind === 'quota');
    if (!isAlone) this.haltedBy = failure;
  }
}

/** Of a change that was never sent, whatever the failure before it left open. */
const unsent = ({ kind, message, code, retryAfterMs }: AzureFailure): AzureFailure =>
  new AzureFailure(kind, `Not sent: ${message}`, code, true, retryAfterMs);

/** The failure of a call; anything else is a defect and is thrown on. */
function asFailure(error: unknown): AzureFailure {
  if (error instanceof AzureFailure) return error;
  throw error;
}
