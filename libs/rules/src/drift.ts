import type { RuleState } from './planner';
import type { ObservedRule } from './provider';

/** One cloud rule as the database knows it, due or not. */
export interface KnownRule {
  readonly ruleId: string;
  /** `ruleKey` of the opening */
  readonly key: string;
  readonly state: RuleState;
  /** a live holder exists */
  readonly wanted: boolean;
  /** it was last seen standing without being ours */
  readonly isForeign: boolean;
  /** the provider's id under which it was last seen; null: it was not */
  readonly providerRuleId: string | null;
}

/** A rule that stands under another id than before: somebody made it anew as it was. */
export interface RenamedRule {
  readonly ruleId: string;
  readonly providerRuleId: string;
}

/** One of ours that stands and may go. */
export interface SuperfluousRule {
  /** null: the database does not know it, or believes it gone */
  readonly ruleId: string | null;
  readonly providerRuleId: string;
}

/** In what a cloud object differs from what the database believes to have written there. */
export interface Drift {
  /** wanted rules that were seen before and are gone: a foreign hand took them out */
  readonly missing: readonly string[];
  /** rules nobody wants, believed absent, that stand with our mark */
  readonly lingering: readonly string[];
  /** rules with our mark that the database does not know, by key */
  readonly orphans: readonly ObservedRule[];
  /** wanted rules of ours from which a foreign hand took our mark: they count as theirs from now on */
  readonly taken: readonly string[];
  readonly renamed: readonly RenamedRule[];
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
  const held = known.filter((rule) => rule.wanted && rule.state === 'present' && !rule.isForeign);
  const taken = held.filter((rule) => standing.has(rule.key) && !ours.has(rule.key));
  const renamed = held.flatMap(({ ruleId, key, providerRuleId: before }) => {
    const now = ours.get(key)?.providerRuleId;
    return before === null || now === undefined || now === before ? [] : [{ ruleId, providerRuleId: now }];
  });
  return {
    missing: missing.map((rule) => rule.ruleId),
    lingering: lingering.map((rule) => rule.ruleId),
    orphans: [...ours.values()].filter((rule) => !keys.has(rule.key)),
    taken: taken.map((rule) => rule.ruleId),
    renamed,
    foreign: observed.filter((rule) => rule.ownRuleId === null).length,
  };
}

/** Rules with our mark that nobody wants, whatever the database believes of them: they take room in the object. */
export function superfluous(
  known: readonly KnownRule[],
  observed: readonly ObservedRule[],
): SuperfluousRule[] {
  const byKey = new Map(known.map((rule) => [rule.key, rule]));
  return observed.flatMap(({ key, ownRuleId, providerRuleId }) => {
    const rule = byKey.get(key);
    if (ownRuleId === null || rule?.wanted) return [];
    return [{ ruleId: rule && rule.state !== 'absent' ? rule.ruleId : null, providerRuleId }];
  });
}
