import { grouped } from './grouped';
import { isOurs, noEffect, type RuleState } from './planner';
import type { ObservedRule } from './provider';

/** A recorded rule of a target, due or not. */
export interface KnownRule {
  readonly ruleId: string;
  /** `ruleKey` of the traffic it allows */
  readonly key: string;
  readonly state: RuleState;
  /** a live holder exists */
  readonly desired: boolean;
  /** last observed present as an unmanaged rule */
  readonly isUnmanaged: boolean;
  /** recorded as ours by its provider id alone */
  readonly isUnmarked: boolean;
  readonly isSuspended: boolean;
  /** the provider's id at its last observation; null: never observed */
  readonly providerRuleId: string | null;
}

/** A rule present under a new provider id: another program recreated it unchanged. */
interface RenamedRule {
  readonly ruleId: string;
  readonly providerRuleId: string;
}

/** A rule whose provider id now allows other traffic. */
interface ChangedRule {
  readonly ruleId: string;
  /** `ruleKey` of the traffic it allows now */
  readonly changedTo: string;
}

/** A desired rule that lets nobody in although it is present. */
interface RuleWithoutEffect {
  readonly ruleId: string;
  readonly message: string;
}

/** A rule of ours that is present and may be removed. */
export interface UnwantedRule {
  /** null: unknown to the database */
  readonly ruleId: string | null;
  readonly key: string;
  readonly providerRuleId: string;
}

/** Differences between the recorded and the observed rules of a target. */
export interface Drift {
  /** desired rules recorded as present and not observed: another program removed or changed them */
  readonly missing: readonly string[];
  /** rules of ours, desired or not, whose provider id allows other traffic */
  readonly changed: readonly ChangedRule[];
  /** rules without a holder, recorded as absent, that are present with our mark */
  readonly stale: readonly string[];
  /** rules with our mark that are unknown to the database, by key */
  readonly orphans: readonly ObservedRule[];
  /** ours by their recorded provider id; the loss of our mark is not recorded yet */
  readonly unmarked: readonly string[];
  /** desired rules replaced by an unmanaged rule that allows the same traffic */
  readonly taken: readonly string[];
  readonly renamed: readonly RenamedRule[];
  /** desired rules that are present and let nobody in */
  readonly withoutEffect: readonly RuleWithoutEffect[];
  /** suspended rules that are present and let their address in again */
  readonly effective: readonly string[];
  /** unmanaged rules, which are never modified */
  readonly unmanaged: readonly ObservedRule[];
}

/**
 * Compares recorded with observed rules. Rules in state `unknown` are skipped: a pass settles them.
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
  const messageOf = ({ key }: KnownRule): string | null => noEffect(inForce.get(key) ?? []);
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
    // a known rule of ours that was changed under its id is reported and left alone
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
    withoutEffect: present.flatMap((rule) => {
      const message = rule.desired ? messageOf(rule) : null;
      return message === null ? [] : [{ ruleId: rule.ruleId, message }];
    }),
    effective: present
      .filter((rule) => rule.isSuspended && inForce.has(rule.key) && messageOf(rule) === null)
      .map(({ ruleId }) => ruleId),
    // a known rule of ours that was changed under its id counts as unmanaged
    unmanaged: observed.filter((rule) =>
      rule.ownRuleId === null
        ? recorded.get(rule.providerRuleId) !== rule.key
        : !knownKeys.has(rule.key) && isKnownElsewhere(rule),
    ),
  };
}

/** Returns a predicate for rules with an unknown key: is it a rule of ours that was changed under its id? */
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

/** Present rules of ours without a holder, whatever their recorded state: they use the target's quota. */
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
