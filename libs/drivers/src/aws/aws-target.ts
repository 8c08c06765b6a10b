import type { IpPermission, SecurityGroupRule } from '@aws-sdk/client-ec2';
import type { ResourceConfig } from '#rules';
import type { Outcomes } from '../outcomes';
import type { AddChange, CloudTarget, Inspection, Verified } from '../provider-driver';

export interface Changes {
  readonly adds: readonly AddChange[];
  /** providerRuleIds, each once, those that additions replace included */
  readonly removals: readonly string[];
}

/** What tells rules of ours from others. */
export type ReadTarget = Pick<CloudTarget, 'deployment' | 'claims' | 'recordedKeys'>;

/** The driver's operations on one target of any kind. Each throws DriverError. */
export interface AwsTarget {
  /** Checks that the credential may read, add and remove rules, and that they restrict access. Changes nothing. */
  verify(config: ResourceConfig): Promise<Verified | void>;
  inspect(target: ReadTarget): Promise<Inspection>;
  /** Applies removals first. Throws only when nothing was sent. */
  apply(changes: Changes, target: ReadTarget, outcomes: Outcomes): Promise<void>;
}

/** The calls that change a security group. */
export interface WritableGroup {
  /** Every rule of the group, including outbound rules, all pages. */
  listRules(): Promise<SecurityGroupRule[]>;
  /** @returns the created rules, in any order */
  authorize(permissions: IpPermission[]): Promise<SecurityGroupRule[]>;
  revoke(ruleIds: readonly string[]): Promise<void>;
}
