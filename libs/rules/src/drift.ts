import type { RuleState } from './planner';
import type { ObservedRule } from './provider';

/** One cloud rule as the database knows it, due or not. */
export interface KnownRule {
  readonly ruleId: string;
  /** `ruleKey` of the opening */
  readonly key: string;
  readonly state: RuleState;
  /** it stands in the cloud without being ours */
  readonly isForeign: boolean;
  /** a live holder exists */
  readonly wanted: boolean;
}

/** In what a cloud object differs from what the database believes to have written there. */
export interface Drift {
  /** wanted rules that were seen before and are gone: a foreign hand took them out */
  readonly missing: readonly string[];
  /** rules nobody wants, believed absent, that stand with our mark */
  readonly lingering: readonly string[];
  /** rules with our mark that the database does not know, by key */
  readonly orphans: readonly ObservedRule[];
  /** rules of others, which are left alone */
  readonly foreign: number;
}

/**
 * Compares what was believed with what was seen. Rules whose outcome is `unknown` are being settled anyhow.
 * @param known every rule of the object, read before the cloud was
 */
export function findDrift(known: readonly KnownRule[], observed: readonly ObservedRule[]): Drift {
  const standing = new Set(observed.filter(({ inForce }) => inForce !== false).map((rule) => rule.key));
  const ours = new Map(observed.filter((rule) => rule.ownRuleId !== null).map((rule) => [rule.key, rule]));
  const keys = new Set(known.map((rule) => rule.key));
  const missing = known.filter((rule) => rule.wanted && rule.state === 'present' && !standing.has(rule.key));
  const lingering = known.filter((rule) => !rule.wanted && rule.state === 'absent' && ours.has(rule.key));
  return {
    missing: missing.map((rule) => rule.ruleId),
    lingering: lingering.map((rule) => rule.ruleId),
    orphans: [...ours.values()].filter((rule) => !keys.has(rule.key)),
    foreign: observed.filter((rule) => rule.ownRuleId === null).length,
  };
}
