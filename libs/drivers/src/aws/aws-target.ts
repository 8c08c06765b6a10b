import type { ObservedRule } from '#rules';
import type { Outcomes } from '../outcomes';
import type { RuleChange } from '../provider-driver';

export type AddChange = Extract<RuleChange, { action: 'add' }>;

export interface Changes {
  readonly adds: readonly AddChange[];
  /** providerRuleIds, each once */
  readonly removals: readonly string[];
}

/** What the driver does with one target, whatever its kind. Each throws DriverError. */
export interface AwsTarget {
  /** Proves that the credential may read, open and close here. Changes nothing. */
  verify(): Promise<void>;
  /** @param deployment whose marks are ours */
  readRules(deployment: string): Promise<ObservedRule[]>;
  /** Removals first. Throws only when nothing was sent. */
  apply(changes: Changes, deployment: string, outcomes: Outcomes): Promise<void>;
}
