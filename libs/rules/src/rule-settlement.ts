import type { AdditionCause, RemovalCause } from './cause';
import type { RuleState } from './planner';

/** An access path to a target: the credential and the region to call. */
export interface Access {
  readonly credentialId: string;
  readonly region: string | null;
}

/** What a pass settled for one rule. Written under the lease of the pass. */
export interface RuleSettlement {
  readonly ruleId: string;
  /** the revision that was read: the rule stays due if it has changed since */
  readonly revision: number;
  /** null: unchanged */
  readonly state: RuleState | null;
  /** observed present in this pass */
  readonly observedPresent: boolean;
  /** present under its recorded id in the first read of this pass */
  readonly presentAtStart: boolean;
  readonly providerRuleId: string | null;
  /** null: unchanged */
  readonly isUnmanaged: boolean | null;
  /** ours by its provider id alone; null: unchanged */
  readonly isUnmarked: boolean | null;
  readonly attempts: number;
  /** ms until the next pass; null: settled */
  readonly dueInMs: number | null;
  /** the outcome of a call is still unknown */
  readonly inFlight: boolean;
  readonly message: string | null;
  /** the target is missing through the access path the rule was written through; null: unchanged */
  readonly targetMissing: boolean | null;
  /** the addition is given up for the waiting holders */
  readonly failed: boolean;
  /** why `failed`: the target holds no addresses of this IP version */
  readonly wrongFamily?: true;
  /** the removal cause; null: the rule is desired */
  readonly unwanted: RemovalCause | null;
  /** why it would be added */
  readonly addCause: AdditionCause;
  /** the access path to remove it through from now on; null: unchanged */
  readonly adopt: Access | null;
}
