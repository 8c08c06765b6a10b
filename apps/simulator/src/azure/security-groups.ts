import type { LockLevel, World } from '../provider';
import { isSameTraffic } from '../ground-truth/ledger';
import { anotherOperation, AzureError, groupNotFound, ruleLimitReached } from './azure-error';
import { ledgerRulesOf } from './ledger-rules';
import type { Operations } from './operations';
import { SUBSCRIPTION_ID } from './principal';
import type { RuleProperties } from './rule-content';

export interface SecurityRule {
  readonly name: string;
  readonly group: string;
  readonly properties: RuleProperties;
  /** the write failed: the rule is listed, but not in effect */
  readonly failed: boolean;
  /** order of creation, for stable paging while rules are added and removed */
  readonly ordinal: number;
  /** microseconds since 1970 */
  readonly writtenAt: number;
  readonly removedAt: number | null;
}

export const RESOURCE_GROUP = 'simulated-group';
/** The groups, as `resource group/name`. */
export const GROUPS: readonly string[] = ['', '-2', '-3', '-4', '-5'].map(
  (suffix) => `${RESOURCE_GROUP}/simulated-nsg${suffix}`,
);

/** How long earlier rules are kept for stale reads. */
const HISTORY_US = 600_000_000;

/** Five network security groups, with their rules and recent earlier ones. */
export class SecurityGroups {
  private rules = new Map<string, SecurityRule>();
  private past: SecurityRule[] = [];
  readonly locks = new Map<string, LockLevel>();
  private nextOrdinal = 1;

  /** @param limit rules a group may have */
  constructor(
    private readonly world: World,
    private readonly operations: Operations,
    private readonly limit: number,
  ) {}

  reset(): void {
    this.rules.clear();
    this.past = [];
    this.locks.clear();
  }

  /** Finds the group that a path names, case-insensitively. @throws AzureError when there is none */
  find(subscriptionId: string, resourceGroup: string, name: string): string {
    if (subscriptionId.toLowerCase() !== SUBSCRIPTION_ID) {
      throw new AzureError(
        404,
        'SubscriptionNotFound',
        `The subscription '${subscriptionId}' could not be found.`,
      );
    }
    if (resourceGroup.toLowerCase() !== RESOURCE_GROUP) {
      throw new AzureError(
        404,
        'ResourceGroupNotFound',
        `Resource group '${resourceGroup}' could not be found.`,
      );
    }
    const group = GROUPS.find((known) => known === `${resourceGroup}/${name}`.toLowerCase());
    if (!group) throw groupNotFound(resourceGroup, name);
    return group;
  }

  /**
   * The rules of a group in order of creation.
   * @param asOf microseconds since 1970: the state at that time, up to ten minutes back
   */
  list(group: string, asOf?: number): SecurityRule[] {
    const present = [...this.rules.values()].filter((rule) => rule.group === group);
    if (asOf === undefined) return present.sort((a, b) => a.ordinal - b.ordinal);
    return [...present, ...this.past.filter((rule) => rule.group === group)]
      .filter(({ writtenAt, removedAt }) => writtenAt <= asOf && (removedAt === null || removedAt > asOf))
      .sort((a, b) => a.ordinal - b.ordinal);
  }

  get(group: string, name: string): SecurityRule | undefined {
    return this.rules.get(keyOf(group, name));
  }

  all(): SecurityRule[] {
    return [...this.rules.values()];
  }

  /** @throws AzureError while another change of the group is in progress */
  checkIdle(group: string): void {
    if (this.operations.isBusy(group)) throw anotherOperation();
  }

  /** @throws AzureError when the group is full or the priority is taken */
  checkCapacity(group: string, name: string, properties: RuleProperties): void {
    const others = this.list(group).filter((rule) => keyOf(group, rule.name) !== keyOf(group, name));
    const conflicting = others.find(
      (rule) =>
        rule.properties.direction === properties.direction &&
        rule.properties.priority === properties.priority,
    );
    if (conflicting) {
      throw new AzureError(
        400,
        'SecurityRuleConflict',
        `Security rule ${name} conflicts with rule ${conflicting.name}. Rules cannot have the same Priority and Direction.`,
      );
    }
    if (others.length >= this.limit) throw ruleLimitReached(this.limit);
  }

  /** Writes a rule that passed the checks. @param failed the write fails later */
  write(group: string, name: string, properties: RuleProperties, failed = false): SecurityRule {
    const known = this.get(group, name);
    const ordinal = known?.ordinal ?? this.nextOrdinal++;
    const rule = { name: known?.name ?? name, group, properties, failed, ordinal, removedAt: null };
    const written = { ...rule, writtenAt: this.world.clock.now() };
    if (!known) return this.open(written);
    const before = ledgerRulesOf(group, known.name, known.properties);
    const after = ledgerRulesOf(group, known.name, properties);
    if (known.failed || failed || !isSameTraffic(before, after)) {
      this.close(known);
      return this.open(written);
    }
    this.keepPast(known);
    this.rules.set(keyOf(group, name), written);
    for (const ledgerRule of after) this.world.ledger.relabel(ledgerRule, ledgerRule.ours);
    return written;
  }

  remove(rule: SecurityRule): void {
    this.close(rule);
    this.rules.delete(keyOf(rule.group, rule.name));
  }

  /** Restores the rules of an earlier run. */
  restore(rules: readonly SecurityRule[]): void {
    for (const rule of rules) {
      this.open({ ...rule, ordinal: this.nextOrdinal++, writtenAt: this.world.clock.now() });
    }
  }

  private open(rule: SecurityRule): SecurityRule {
    this.rules.set(keyOf(rule.group, rule.name), rule);
    if (!rule.failed) {
      for (const ledgerRule of ledgerRulesOf(rule.group, rule.name, rule.properties))
        this.world.ledger.open(ledgerRule);
    }
    return rule;
  }

  private close(rule: SecurityRule): void {
    for (const ledgerRule of ledgerRulesOf(rule.group, rule.name, rule.properties))
      this.world.ledger.close(ledgerRule);
    this.keepPast(rule);
  }

  /** Keeps a rule for stale reads. */
  private keepPast(rule: SecurityRule): void {
    const removedAt = this.world.clock.now();
    this.past.push({ ...rule, removedAt });
    while ((this.past[0]?.removedAt ?? removedAt) < removedAt - HISTORY_US) this.past.shift();
  }
}

/** Azure compares names case-insensitively. */
const keyOf = (group: string, name: string): string => `${group}/${name.toLowerCase()}`;
