import { parseRuleKey, type ObservedRule, type ResourceConfig } from '#rules';
import { DriverError } from '../driver-error';
import { refuseOpenTarget } from '../open-target';
import type { Outcomes } from '../outcomes';
import { addRules } from './addition';
import type { AwsTarget, Changes } from './aws-target';
import { removeRules } from './removal';
import { observedRule, ruleKeyOfEc2 } from './rule-mapping';
import type { SecurityGroup } from './security-group';

/** The inbound rules of a security group. */
export class SecurityGroupRules implements AwsTarget {
  constructor(private readonly group: SecurityGroup) {}

  async verify(config: ResourceConfig): Promise<void> {
    await this.group.describe();
    const rules = await this.group.readRules();
    await this.group.requireWritePermission();
    const keys = rules.map(ruleKeyOfEc2).filter((key) => key !== null);
    refuseOpenTarget(this.group.groupId, config, keys.map(parseRuleKey));
  }

  async readRules(deployment: string): Promise<ObservedRule[]> {
    const rules = await this.group.readRules();
    // For a deleted group, EC2 returns an empty list: check that the group exists.
    if (rules.length === 0) await this.group.describe();
    return rules.map((rule) => observedRule(rule, deployment)).filter((rule) => rule !== null);
  }

  async apply({ adds, removals }: Changes, _deployment: string, outcomes: Outcomes): Promise<void> {
    if (adds.some(({ spec }) => spec.ports.length > 1)) {
      throw new DriverError('invalid', 'A rule of a security group holds one port range');
    }
    if (removals.length > 0) await removeRules(this.group, removals, outcomes);
    outcomes.beginAdditions();
    if (adds.length > 0) await addRules(this.group, adds, outcomes);
  }
}
