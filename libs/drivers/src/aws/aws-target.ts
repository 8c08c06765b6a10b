import type { IpPermission, SecurityGroupRule } from '@aws-sdk/client-ec2';
import type { ObservedRule, ResourceConfig } from '#rules';
import type { Outcomes } from '../outcomes';
import type { AddChange } from '../provider-driver';

export interface Changes {
  readonly adds: readonly AddChange[];
  /** providerRuleIds, each once */
  readonly removals: readonly string[];
}

/** The driver's operations on one target of any kind. Each throws DriverError. */
export interface AwsTarget {
  /** Checks that the credential may read, add and remove rules, and that they restrict access. Changes nothing. */
  verify(config: ResourceConfig): Promise<void>;
  /** @param deployment name of this deployment: marks with this name are ours */
  readRules(deployment: string): Promise<ObservedRule[]>;
  /** Applies removals first. Throws only when nothing was sent. */
  apply(changes: Changes, deployment: string, outcomes: Outcomes): Promise<void>;
}

/** The calls that change a security group. */
export interface WritableGroup {
  /** Every rule of the group, including outbound rules, all pages. */
  listRules(): Promise<SecurityGroupRule[]>;
  /** @returns the created rules, in any order */
  authorize(permissions: IpPermission[]): Promise<SecurityGroupRule[]>;
  revoke(ruleIds: readonly string[]): Promise<void>;
}
