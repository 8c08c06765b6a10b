import { grouped } from './grouped';
import { noEffect, OwnRules } from './observed-rules';
import { isOurs } from './planner';
import type { ObservedRule } from './provider';
import type { Rule } from './rule';

/** A recorded rule of a target, due or not, as comparisons read it. */
export interface KnownRule extends Pick<
  Rule,
  'state' | 'isUnmanaged' | 'isSuspended' | 'isMissing' | 'providerRuleId'
> {
  readonly ruleId: string;
  /** `ruleKey` of the traffic it allows */
  readonly key: string;
  /** a live holder exists */
  readonly desired: boolean;
}

/** A rule present under a new provider id: another program recreated it unchanged. */
interface RenamedRule {
  readonly ruleId: string;
  readonly providerRuleId: string;
}

/** A rule of ours that does something else than was written, or more. */
interface ChangedRule {
  readonly ruleId: string;
  /** what it does now, as a phrase */
  readonly changedTo: string;
}

/** A desired rule that admits no traffic although it is present. */
interface RuleWithoutEffect {
  readonly ruleId: string;
  readonly message: string;
}

/** Differences between the recorded and the observed rules of a target. */
export interface Drift {
  /** desired rules recorded as present and not observed: another program removed them */
  readonly missing: readonly string[];
  /** desired rules that another program changed: a pass writes them again */
  readonly changed: readonly ChangedRule[];
  /** rules without a holder, recorded as absent, that are present with our mark */
  readonly stale: readonly string[];
  /** rules with our mark that no known rule is now, by key: unknown to the database, or copies */
  readonly orphans: readonly ObservedRule[];
  /** desired rules replaced by an unmanaged rule that allows the same traffic */
  readonly taken: readonly string[];
  readonly renamed: readonly RenamedRule[];
  /** desired rules that are present and admit no traffic */
  readonly withoutEffect: readonly RuleWithoutEffect[];
  /** suspended rules that are present and let their address in again */
  readonly effective: readonly string[];
  /** unmanaged rules, which are never modified */
  readonly unmanaged: readonly ObservedRule[];
}

/**
 * Compares recorded with observed rules. Rules in state `unknown` are skipped, unless another program
 * changed them: a pass settles them.
 * @param known every recorded rule of the target, read before the target
 */
export function findDrift(known: readonly KnownRule[], observed: readonly ObservedRule[]): Drift {
  const inForce = grouped(
    observed.filter((rule) => rule.inForce !== false),
    ({ key }) => key,
  );
  const marked = new Map(
    observed.filter(({ ownRuleId }) => ownRuleId !== null).map((rule) => [rule.key, rule]),
  );
  const own = new OwnRules(observed);
  const recordedKey = new Map(known.map((rule) => [recordedId(rule), rule.key]));
  const knownKeys = new Set(known.map(({ key }) => key));
  const ownersOf = ownersByProviderId(known, own);
  const changed = known.flatMap((rule): ChangedRule[] => {
    if (!rule.desired || !mayBePresent(rule)) return [];
    const changedTo = own.changeOf({ ...rule, recordedId: recordedId(rule) });
    return changedTo === null ? [] : [{ ruleId: rule.ruleId, changedTo }];
  });
  const isChanged = new Set(changed.map(({ ruleId }) => ruleId));
  const present = known.filter(({ state, ruleId }) => state === 'present' && !isChanged.has(ruleId));
  const held = present.filter(({ desired, isUnmanaged }) => desired && !isUnmanaged);
  const messageOf = ({ key }: KnownRule): string | null => noEffect(inForce.get(key) ?? []);
  const isOnlyRecorded = (rule: KnownRule): boolean =>
    !marked.has(rule.key) &&
    own.of({ ...rule, recordedId: recordedId(rule) }).some(({ key }) => key === rule.key);
  return {
    missing: present.filter(({ desired, key }) => desired && !inForce.has(key)).map(({ ruleId }) => ruleId),
    changed,
    stale: known
      .filter(({ desired, state, key }) => !desired && state === 'absent' && marked.has(key))
      .map(({ ruleId }) => ruleId),
    orphans: [...marked.values()].filter(
      (rule) => !knownKeys.has(rule.key) && !ownersOf.has(rule.providerRuleId),
    ),
    taken: held
      .filter((rule) => inForce.has(rule.key) && !marked.has(rule.key) && !isOnlyRecorded(rule))
      .map(({ ruleId }) => ruleId),
    renamed: held.flatMap(({ ruleId, key, providerRuleId: before }) => {
      const now = marked.get(key)?.providerRuleId;
      return before === null || now === undefined || now === before ? [] : [{ ruleId, providerRuleId: now }];
    }),
    withoutEffect: present.flatMap((rule) => {
      const message = rule.desired ? messageOf(rule) : null;
      return message === null ? [] : [{ ruleId: rule.ruleId, message }];
    }),
    effective: present
      .filter((rule) => rule.isSuspended && inForce.has(rule.key) && messageOf(rule) === null)
      .map(({ ruleId }) => ruleId),
    unmanaged: observed.filter(
      (rule) =>
        rule.ownRuleId === null &&
        !ownersOf.has(rule.providerRuleId) &&
        recordedKey.get(rule.providerRuleId) !== rule.key,
    ),
  };
}

/** The provider's id under which it was last observed as ours; null: it was not. */
export const recordedId = ({ isUnmanaged, providerRuleId }: KnownRule): string | null =>
  isUnmanaged ? null : providerRuleId;

const mayBePresent = ({ state, isUnmanaged }: KnownRule): boolean => state !== 'absent' && !isUnmanaged;

/** The known rule that each observed provider rule is now, whatever that lets in. */
function ownersByProviderId(known: readonly KnownRule[], own: OwnRules): Map<string, KnownRule> {
  return new Map(
    known
      .filter(mayBePresent)
      .flatMap((rule) =>
        own
          .of({ ...rule, recordedId: recordedId(rule) })
          .map(({ providerRuleId }) => [providerRuleId, rule] as const),
      ),
  );
}

/** Present rules of ours without a holder, whatever their recorded state. */
export function unwantedRules(
  known: readonly KnownRule[],
  observed: readonly ObservedRule[],
): ObservedRule[] {
  const byKey = new Map(known.map((rule) => [rule.key, rule]));
  const ownersOf = ownersByProviderId(known, new OwnRules(observed));
  return observed.filter((shown) => {
    const rule = byKey.get(shown.key) ?? ownersOf.get(shown.providerRuleId);
    return isOurs(shown, rule ? recordedId(rule) : null) && !rule?.desired;
  });
}
