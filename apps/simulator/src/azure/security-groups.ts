import type { LockLevel, World } from '../provider';
import { CloudError } from '../cloud-error';
import { History } from '../ground-truth/history';
import type { LedgerRule } from '../ground-truth/ledger';
import { anotherOperation, badRequest, groupNotFound, ruleLimitReached } from './azure-error';
import { ledgerRulesOf } from './ledger-rules';
import type { Operations } from './operations';
import { RESOURCE_GROUP } from './principal';
import type { RuleProperties } from './rule-content';

export interface SecurityRule {
  readonly name: string;
  readonly group: string;
  readonly properties: RuleProperties;
  /** the write failed: the rule is listed, but not in effect */
  readonly failed: boolean;
  /** order of creation, for stable paging while rules are added and removed */
  readonly ordinal: number;
}

/** The groups, as `resource group/name`. */
export const GROUPS: readonly string[] = ['', '-2', '-3', '-4', '-5'].map(
  (suffix) => `${RESOURCE_GROUP}/simulated-nsg${suffix}`,
);

/** Five network security groups, with their rules. */
export class SecurityGroups {
  private readonly rules: History<SecurityRule>;
  readonly locks = new Map<string, LockLevel>();
  private nextOrdinal = 1;

  constructor(
    private readonly world: World,
    private readonly operations: Operations,
  ) {
    this.rules = new History(world, openedBy);
  }

  reset(): void {
    this.rules.clear();
    this.locks.clear();
  }

  /** Finds the group that a path names, case-insensitively. @throws CloudError when there is none */
  find(subscriptionId: string, resourceGroup: string, name: string): string {
    const { accounts } = this.world;
    const subscription = subscriptionId.toLowerCase();
    if (!accounts.has('AZURE', subscription)) {
      throw new CloudError(
        404,
        'SubscriptionNotFound',
        `The subscription '${subscriptionId}' could not be found.`,
      );
    }
    if (resourceGroup.toLowerCase() !== RESOURCE_GROUP) {
      throw new CloudError(
        404,
        'ResourceGroupNotFound',
        `Resource group '${resourceGroup}' could not be found.`,
      );
    }
    const group = GROUPS.find((known) => known === `${resourceGroup}/${name}`.toLowerCase());
    if (!group || accounts.ownerOf('AZURE', group) !== subscription) throw groupNotFound(resourceGroup, name);
    return group;
  }

  /**
   * The rules of a group in order of creation.
   * @param asOf microseconds since 1970: the state at that time, up to ten minutes back
   */
  list(group: string, asOf?: number): SecurityRule[] {
    return this.rules
      .values(asOf)
      .filter((rule) => rule.group === group)
      .sort((a, b) => a.ordinal - b.ordinal);
  }

  get(group: string, name: string): SecurityRule | undefined {
    return this.rules.get(keyOf(group, name));
  }

  all(): SecurityRule[] {
    return this.rules.values();
  }

  /** @throws CloudError while another change of the group is in progress */
  checkIdle(group: string): void {
    if (this.operations.isBusy(group)) throw anotherOperation();
  }

  /** @throws CloudError when the group is full or the priority is taken */
  checkCapacity(group: string, name: string, properties: RuleProperties): void {
    const others = this.list(group).filter((rule) => keyOf(group, rule.name) !== keyOf(group, name));
    const conflicting = others.find(
      (rule) =>
        rule.properties.direction === properties.direction &&
        rule.properties.priority === properties.priority,
    );
    if (conflicting) {
      throw badRequest(
        'SecurityRuleConflict',
        `Security rule ${name} conflicts with rule ${conflicting.name}. Rules cannot have the same Priority and Direction.`,
      );
    }
    const { azureRulesPerGroup: limit } = this.world.sizes;
    if (others.length >= limit) throw ruleLimitReached(limit);
  }

  /** Writes a rule that passed the checks. @param failed the write fails later */
  write(group: string, given: string, properties: RuleProperties, failed = false): SecurityRule {
    const known = this.get(group, given);
    const { name = given, ordinal = this.nextOrdinal++ } = known ?? {};
    return this.store({ name, group, properties, failed, ordinal });
  }

  remove(rule: SecurityRule): void {
    this.rules.delete(keyOf(rule.group, rule.name));
  }

  /** Restores the rules of an earlier run. */
  restore(rules: readonly SecurityRule[]): void {
    for (const rule of rules) this.store({ ...rule, ordinal: this.nextOrdinal++ });
  }

  private store(rule: SecurityRule): SecurityRule {
    return this.rules.set(keyOf(rule.group, rule.name), rule);
  }
}

const openedBy = ({ failed, group, name, properties }: SecurityRule): LedgerRule[] =>
  failed ? [] : ledgerRulesOf(group, name, properties);

/** Azure compares names case-insensitively. */
const keyOf = (group: string, name: string): string => `${group}/${name.toLowerCase()}`;
