import { isOurs, type RuleState } from './planner';
import type { ObservedRule } from './provider';

/** One live rule of a target as the database knows it, due or not. */
export interface KnownRule {
  readonly ruleId: string;
  /** `ruleKey` of what it lets in */
  readonly key: string;
  readonly state: RuleState;
  /** a live holder exists */
  readonly desired: boolean;
  /** it was last seen present without being ours */
  readonly isUnmanaged: boolean;
  /** that it is ours by its provider id alone was recorded */
  readonly isUnmarked: boolean;
  /** the provider's id under which it was last seen; null: it was not */
  readonly providerRuleId: string | null;
}

/** A rule that is present under another id than before: another program made it anew as it was. */
export interface RenamedRule {
  readonly ruleId: string;
  readonly providerRuleId: string;
}

/** A rule whose provider id lets in something else now. */
export interface ChangedRule {
  readonly ruleId: string;
  /** `ruleKey` of what it lets in now */
  readonly changedTo: string;
}

/** One of ours that is present and may be removed. */
export interface UnwantedRule {
  /** null: the database does not know it */
  readonly ruleId: string | null;
  readonly key: string;
  readonly providerRuleId: string;
}

/** In what a target differs from what the database believes to have written there. */
export interface Drift {
  /** desired rules that were present before and are not: another program removed or changed them */
  readonly missing: readonly string[];
  /** of ours, desired or not: their provider id lets in something else */
  readonly changed: readonly ChangedRule[];
  /** rules that no holder wants, believed absent, that are present with our mark */
  readonly stale: readonly string[];
  /** rules with our mark that the database does not know, by key */
  readonly orphans: readonly ObservedRule[];
  /** ours by their recorded provider id; our mark is gone, and that was not recorded yet */
  readonly unmarked: readonly string[];
  /** desired rules in whose place an unmanaged one is: it lets the address in, and is not ours */
  readonly taken: readonly string[];
  readonly renamed: readonly RenamedRule[];
  /** rules of others, which are left alone */
  readonly unmanaged: readonly ObservedRule[];
}

/**
 * Compares what was believed with what was observed. Rules whose outcome is `unknown` are being settled anyhow.
 * @param known every live rule of the target, read before the target was
 */
export function findDrift(known: readonly KnownRule[], observed: readonly ObservedRule[]): Drift {
  const inForce = new Set(observed.filter((rule) => rule.inForce !== false).map(({ key }) => key));
  const marked = new Map(
    observed.filter(({ ownRuleId }) => ownRuleId !== null).map((rule) => [rule.key, rule]),
  );
  const keyOf = new Map(observed.map(({ providerRuleId, key }) => [providerRuleId, key]));
  const knownKeys = new Set(known.map(({ key }) => key));
  const isKnownElsewhere = knownElsewhere(known);
  const recorded = new Map(
    known.flatMap(({ isUnmanaged, providerRuleId, key }) =>
      isUnmanaged || providerRuleId === null ? [] : [[providerRuleId, key] as const],
    ),
  );
  const present = known.filter(({ state }) => state === 'present');
  const held = present.filter(({ desired, isUnmanaged }) => desired && !isUnmanaged);
  const isOnlyRecorded = ({ key, providerRuleId }: KnownRule): boolean =>
    !marked.has(key) && providerRuleId !== null && keyOf.get(providerRuleId) === key;
  return {
    missing: present.filter(({ desired, key }) => desired && !inForce.has(key)).map(({ ruleId }) => ruleId),
    changed: present.flatMap(({ ruleId, key, isUnmanaged, providerRuleId }) => {
      const changedTo = isUnmanaged || providerRuleId === null ? undefined : keyOf.get(providerRuleId);
      return changedTo === undefined || changedTo === key || inForce.has(key) ? [] : [{ ruleId, changedTo }];
    }),
    stale: known
      .filter(({ desired, state, key }) => !desired && state === 'absent' && marked.has(key))
      .map(({ ruleId }) => ruleId),
    // a rule of ours that was changed under its id is reported, and left alone while we know of it
    orphans: [...marked.values()].filter((rule) => !knownKeys.has(rule.key) && !isKnownElsewhere(rule)),
    unmarked: present
      .filter((rule) => !rule.isUnmanaged && !rule.isUnmarked && isOnlyRecorded(rule))
      .map(({ ruleId }) => ruleId),
    taken: held
      .filter((rule) => inForce.has(rule.key) && !marked.has(rule.key) && !isOnlyRecorded(rule))
      .map(({ ruleId }) => ruleId),
    renamed: held.flatMap(({ ruleId, key, providerRuleId: before }) => {
      const now = marked.get(key)?.providerRuleId;
      return before === null || now === undefined || now === before ? [] : [{ ruleId, providerRuleId: now }];
    }),
    // one of ours that was changed under its id is nobody's while we know of it
    unmanaged: observed.filter((rule) =>
      rule.ownRuleId === null
        ? recorded.get(rule.providerRuleId) !== rule.key
        : !knownKeys.has(rule.key) && isKnownElsewhere(rule),
    ),
  };
}

/** Of a rule under a key that is not known: it is one of ours that was changed under its id. */
function knownElsewhere(
  known: readonly KnownRule[],
): (rule: Pick<ObservedRule, 'ownRuleId' | 'providerRuleId'>) => boolean {
  const ruleIds = new Set(known.map(({ ruleId }) => ruleId));
  const recorded = new Set(
    known.flatMap(({ isUnmanaged, providerRuleId }) => (isUnmanaged ? [] : (providerRuleId ?? []))),
  );
  return ({ ownRuleId, providerRuleId }) =>
    (ownRuleId !== null && ruleIds.has(ownRuleId)) || recorded.has(providerRuleId);
}

/** Rules of ours that no holder wants, whatever the database believes of them: they take room in the target. */
export function unwantedRules(
  known: readonly KnownRule[],
  observed: readonly ObservedRule[],
): UnwantedRule[] {
  const byKey = new Map(known.map((rule) => [rule.key, rule]));
  const isKnownElsewhere = knownElsewhere(known);
  return observed.flatMap(({ key, ownRuleId, providerRuleId }) => {
    const rule = byKey.get(key);
    if (!rule && isKnownElsewhere({ ownRuleId, providerRuleId })) return [];
    const recorded = rule && !rule.isUnmanaged ? rule.providerRuleId : null;
    if (!isOurs({ ownRuleId, providerRuleId }, recorded) || rule?.desired) return [];
    return [{ ruleId: rule?.ruleId ?? null, key, providerRuleId }];
  });
}
