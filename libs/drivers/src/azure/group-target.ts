import { overrideWarnings, type ResourceConfig } from '#rules';
import { asCallFailure } from '../call-failure';
import type { Deadline } from '../deadline';
import { DriverError } from '../driver-error';
import { explainOpen, refuseOpenTarget } from '../open-target';
import {
  byAction,
  type CloudTarget,
  type Inspection,
  type RuleChange,
  type Verified,
} from '../provider-driver';
import { writtenKeys } from '../written-keys';
import { lockWarnings, type ArmAccessCheck } from './arm/arm-access';
import type { Applied, AzureTarget } from './azure-target';
import { Batch } from './batch';
import type { NetworkSecurityGroup } from './network-security-group';
import { groupRoom } from './priorities';
import { accessRules, denialsBefore, isNeutral, observedRules, type GroupRule } from './rule-mapping';
import { RULE_ACTIONS } from './write-permission';

/** Rules that a lock kept, deleted in one comparison. */
export const MAX_TIDIED = 5;

/** A network security group as a target. */
export class GroupTarget implements AzureTarget {
  constructor(
    private readonly target: CloudTarget,
    private readonly group: NetworkSecurityGroup,
    private readonly access: ArmAccessCheck,
    private readonly deadline: Deadline,
  ) {}

  async verify(config: ResourceConfig): Promise<Verified> {
    await this.group.describe();
    const rules = await this.group.readRules();
    await this.access.requireActions(RULE_ACTIONS);
    const { name } = this.group.group;
    const locks = lockWarnings(name, await this.access.deleteLocks());
    refuseOpenTarget(name, config, accessRules(rules));
    const denials = denialsBefore(rules, config, this.target.deployment);
    return { warnings: [...locks, ...overrideWarnings(denials)] };
  }

  async read(): Promise<Inspection> {
    return this.inspectionOf(await this.group.readRules());
  }

  async inspect(): Promise<Inspection> {
    const rules = await this.group.readRules();
    const leftovers = rules.filter((rule) => isNeutral(rule, this.target.deployment));
    if (leftovers.length === 0) return this.inspectionOf(rules);
    try {
      for (const { name } of leftovers.slice(0, MAX_TIDIED)) await this.group.remove(name);
    } catch (error) {
      // they admit no traffic: the next comparison tries again
      asCallFailure(error);
    }
    return this.read();
  }

  async apply(changes: readonly RuleChange[]): Promise<Applied> {
    const { adds, removals } = byAction(changes);
    const rules = await this.group.readRules().catch((error: unknown) => {
      // a rule is removed by its name, also where nothing may be read
      if (adds.length === 0 && error instanceof DriverError && error.kind === 'denied') return [];
      throw error;
    });
    const batch = new Batch(this.group, rules, this.target.deployment, this.deadline);
    for (const change of new Map(removals.map((one) => [one.providerRuleId, one])).values())
      await batch.remove(change);
    batch.outcomes.beginAdditions();
    for (const change of adds) await batch.add(change);
    return { results: batch.outcomes.resultsOf(changes), failure: batch.outcomes.failure };
  }

  private inspectionOf(rules: readonly GroupRule[]): Inspection {
    return {
      rules: observedRules(rules, this.target.deployment, writtenKeys(this.target)),
      room: groupRoom(rules, this.target.configs ?? []),
      explainOpen: (config) => explainOpen(this.group.group.name, config, accessRules(rules)),
    };
  }
}
