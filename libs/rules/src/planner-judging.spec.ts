import * as fc from 'fast-check';
import { planChanges } from './planner';
import type { ChangeResult, ObservedRule } from './provider';
import {
  absent,
  again,
  answered,
  applied,
  entries,
  isChanged,
  failsAdditionFor,
  isFinalRefusal,
  judge,
  list,
  ownPresent,
  presentUnder,
  RUNS,
  SEARCH,
  worlds,
  type Cloud,
  type DueRule,
  type Fate,
  type Verdict,
  type World,
} from './planner.testing';

type Judge = (
  due: readonly DueRule[],
  results: ReadonlyMap<string, ChangeResult>,
  observed: readonly ObservedRule[],
) => Verdict[];

/** One round: the driver's results, the target afterwards, and the verdicts. */
interface Round {
  readonly results: ReadonlyMap<string, ChangeResult>;
  readonly after: Cloud;
  readonly verdicts: readonly Verdict[];
}

function roundOf(world: World, judging: Judge): Round {
  const { due, cloud, fates } = world;
  const changes = planChanges(due, list(cloud));
  const after = applied(cloud, changes, fates);
  const results = new Map(changes.map((change) => [change.rule.ruleId, answered(change, fates)]));
  return { results, after, verdicts: judging(due, results, list(after)) };
}

type JudgedRule = { rule: DueRule; verdict: Verdict; result: ChangeResult | undefined; after: Cloud };

const judging = (holds: (judged: JudgedRule) => boolean, fate?: Fate) => {
  return (subject: Judge) =>
    fc.property(worlds(2), (drawn) => {
      const fates = fate ? new Map(drawn.due.map(({ ruleId }) => [ruleId, fate])) : drawn.fates;
      const world = { ...drawn, fates };
      const { results, after, verdicts } = roundOf(world, subject);
      return verdicts.every((verdict) => {
        const rule = world.due.find(({ ruleId }) => ruleId === verdict.rule.ruleId);
        return rule !== undefined && holds({ rule, verdict, result: results.get(rule.ruleId), after });
      });
    });
};

const isShown = (after: Cloud, rule: DueRule): boolean =>
  presentUnder(after, rule.key).length > 0 || isChanged(after, rule);

const JUDGE_PROPERTIES = {
  'every rule gets one verdict, in the given order': (subject: Judge) =>
    fc.property(worlds(2), (world) => {
      const { verdicts } = roundOf(world, subject);
      return (
        verdicts.length === world.due.length &&
        verdicts.every((verdict, index) => verdict.rule === world.due[index])
      );
    }),
  'absent: no own rule is present': judging(
    ({ rule, verdict, after }) => verdict.kind !== 'absent' || ownPresent(after, rule).length === 0,
  ),
  'absent: no call is in flight': judging(
    ({ rule, verdict, result }) =>
      verdict.kind !== 'absent' || (!rule.inFlight && result?.result !== 'unknown'),
  ),
  'absent: not desired': judging(({ rule, verdict }) => verdict.kind !== 'absent' || !rule.desired),
  'present: desired, and observed': judging(
    ({ rule, verdict, after }) =>
      verdict.kind !== 'present' || (rule.desired && after.get(verdict.providerRuleId)?.key === rule.key),
  ),
  'present: unmanaged exactly when no own rule is present': judging(
    ({ rule, verdict, after }) =>
      verdict.kind !== 'present' || verdict.unmanaged === (ownPresent(after, rule).length === 0),
  ),
  'retry: observed present exactly when it is unwanted and an own rule is present': judging(
    ({ rule, verdict, after }) =>
      verdict.kind !== 'retry' ||
      verdict.observedPresent ===
        (!rule.desired && ownPresent(after, rule).some(({ key }) => key === rule.key)),
  ),
  'retry: changed exactly when its recorded id lets in something else': judging(
    ({ rule, verdict, after }) =>
      (verdict.kind === 'retry' && verdict.changedTo !== undefined) === isChanged(after, rule),
  ),
  'retry: refused exactly when the refusal is not retryable': judging(
    ({ verdict, result }) => verdict.kind !== 'retry' || verdict.refused === isFinalRefusal(result),
  ),
  'failed: desired, refused without retry, and not present': judging(
    ({ rule, verdict, result, after }) =>
      verdict.kind !== 'failed' || (rule.desired && failsAdditionFor(result) && !isShown(after, rule)),
  ),
  'refused without retry and not present: failed, with the provider’s message': judging(
    ({ rule, verdict, result, after }) =>
      !rule.desired ||
      !failsAdditionFor(result) ||
      isShown(after, rule) ||
      (verdict.kind === 'failed' && verdict.message === result.message),
  ),
  'an unknown result settles only what was observed': judging(
    ({ verdict, result }) =>
      result?.result !== 'unknown' ||
      verdict.kind === 'present' ||
      (verdict.kind === 'retry' && verdict.unknown),
  ),
  'a round without failures settles every rule without a call in flight': judging(
    ({ rule, verdict, after }) =>
      (rule.desired ? !rule.mayOpen : rule.inFlight || ownPresent(after, rule).length > 0) ||
      verdict.kind === (rule.desired ? 'present' : 'absent'),
    'done',
  ),
};

const mapped =
  (change: (verdict: Verdict, rule: DueRule, result: ChangeResult | undefined) => Verdict): Judge =>
  (due, results, observed) =>
    judge(due, results, observed).map((verdict, index) =>
      change(verdict, due[index]!, results.get(verdict.rule.ruleId)),
    );

const presentAs = (rule: DueRule): Verdict => ({
  rule,
  kind: 'present',
  providerRuleId: `added ${rule.ruleId}`,
  unmanaged: false,
  unknown: false,
});
/** Judges with one planted bug each, and the property that must find it. */
const PLANTED_BUGS: Record<keyof typeof JUDGE_PROPERTIES, [bug: string, Judge]> = {
  'every rule gets one verdict, in the given order': [
    'sorts removals first',
    (due, results, observed) =>
      judge(
        due.toSorted((one, other) => Number(one.desired) - Number(other.desired)),
        results,
        observed,
      ),
  ],
  'absent: no own rule is present': [
    'trusts the result of a removal instead of the read',
    mapped((verdict, rule, result) => (!rule.desired && result?.result === 'done' ? absent(rule) : verdict)),
  ],
  'absent: no call is in flight': [
    'ignores calls in flight',
    (due, results, observed) =>
      judge(
        due.map((rule) => ({ ...rule, inFlight: false })),
        results,
        observed,
      ),
  ],
  'absent: not desired': [
    'settles expired rules as absent',
    mapped((verdict, rule) =>
      rule.desired && !rule.mayOpen && verdict.kind === 'retry' ? absent(rule) : verdict,
    ),
  ],
  'present: desired, and observed': [
    'trusts the result of an addition instead of the read',
    mapped((verdict, rule, result) =>
      rule.desired && result?.result === 'done' ? presentAs(rule) : verdict,
    ),
  ],
  'present: unmanaged exactly when no own rule is present': [
    'treats every rule as ours',
    mapped((verdict) => (verdict.kind === 'present' ? { ...verdict, unmanaged: false } : verdict)),
  ],
  'failed: desired, refused without retry, and not present': [
    'gives up when it is throttled',
    mapped((verdict, rule, result) =>
      rule.desired && result?.result === 'refused' && verdict.kind === 'retry'
        ? { rule, kind: 'failed', message: result.message, refusedAs: 'invalid' }
        : verdict,
    ),
  ],
  'refused without retry and not present: failed, with the provider’s message': [
    'never gives up',
    mapped((verdict) => (verdict.kind === 'failed' ? again(verdict.rule, verdict.message) : verdict)),
  ],
  'an unknown result settles only what was observed': [
    'treats an unknown result as success',
    mapped((verdict, rule, result) =>
      !rule.desired && !rule.inFlight && result?.result === 'unknown' ? absent(rule) : verdict,
    ),
  ],
  'a round without failures settles every rule without a call in flight': [
    'never settles',
    (due) => due.map((rule) => again(rule)),
  ],
  'retry: changed exactly when its recorded id lets in something else': [
    'hides a change by another program',
    mapped((verdict) => (verdict.kind === 'retry' ? again(verdict.rule) : verdict)),
  ],
  'retry: observed present exactly when it is unwanted and an own rule is present': [
    'hides that an unwanted rule is present',
    mapped((verdict) => (verdict.kind === 'retry' ? { ...verdict, observedPresent: false } : verdict)),
  ],
  'retry: refused exactly when the refusal is not retryable': [
    'hides a refusal',
    mapped((verdict) => (verdict.kind === 'retry' ? { ...verdict, refused: false } : verdict)),
  ],
};

describe('judge', () => {
  it.each(entries(JUDGE_PROPERTIES))('%s', (_name, property) => {
    expect(fc.check(property(judge), RUNS)).toMatchObject({ failed: false });
  });

  const planted = entries(PLANTED_BUGS).map(([name, [bug, mutant]]) => ({ name, bug, mutant }));
  it.each(planted)('a judge that $bug violates "$name"', ({ name, mutant }) => {
    expect(fc.check(JUDGE_PROPERTIES[name](mutant), SEARCH).failed).toBe(true);
  });
});
