import * as fc from 'fast-check';
import { planChanges, type PlannedChange } from './planner';
import type { ObservedRule } from './provider';
import {
  add,
  applied,
  dueRule,
  entries,
  isBlind,
  isChanged,
  isConverged,
  isOwn,
  keyOf,
  list,
  PERFECT,
  presentUnder,
  remove,
  ruleOf,
  RUNS,
  SEARCH,
  worlds,
  type DueRule,
  type World,
} from './planner.testing';

type Plan = (due: readonly DueRule[], observed: readonly ObservedRule[]) => PlannedChange[];
const planning = (holds: (plan: Plan, world: World) => boolean, maxOwn = 1) => {
  return (plan: Plan) => fc.property(worlds(maxOwn), (world) => holds(plan, world));
};

const PLAN_PROPERTIES = {
  'one round without failures converges': planning((plan, { due, cloud }) =>
    isConverged(due, applied(cloud, plan(due, list(cloud)), PERFECT)),
  ),
  'rounds without failures converge with several own rules under one key': planning(
    (plan, { due, cloud }) => {
      let now = cloud;
      for (let round = 0; round < 4; round += 1) now = applied(now, plan(due, list(now)), PERFECT);
      return isConverged(due, now);
    },
    4,
  ),
  'unmanaged rules are never removed': planning((plan, { due, cloud }) =>
    plan(due, list(cloud)).every((change) => {
      if (change.action !== 'remove' || isBlind(cloud, due, change)) return true;
      const removed = cloud.get(change.providerRuleId);
      return removed !== undefined && isOwn(ruleOf(due, change), removed);
    }),
  ),
  'a removal targets the key of its rule only, or what it has become': planning((plan, { due, cloud }) =>
    plan(due, list(cloud)).every(
      (change) =>
        change.action !== 'remove' ||
        isBlind(cloud, due, change) ||
        isChanged(cloud, ruleOf(due, change)) ||
        cloud.get(change.providerRuleId)?.key === keyOf(due, change),
    ),
  ),
  'no key is changed twice in a round': planning((plan, { due, cloud }) => {
    const keys = plan(due, list(cloud)).map((change) => keyOf(due, change));
    return new Set(keys).size === keys.length;
  }, 3),
  'removals come first': planning((plan, { due, cloud }) => {
    const actions = plan(due, list(cloud)).map(({ action }) => action);
    return !actions.slice(Math.max(0, actions.indexOf('add'))).includes('remove') || !actions.includes('add');
  }),
  'nothing is planned after convergence': planning((plan, { due, cloud }) => {
    const after = applied(cloud, planChanges(due, list(cloud)), PERFECT);
    return plan(due, list(after)).every((change) => isBlind(after, due, change));
  }),
  'a rule whose last holder has expired is not added': planning((plan, { due, cloud }) =>
    plan(due, list(cloud)).every((change) => change.action === 'remove' || ruleOf(due, change).mayOpen),
  ),
  'an unwanted rule is not added': planning((plan, { due, cloud }) =>
    plan(due, list(cloud)).every((change) => change.action === 'remove' || ruleOf(due, change).desired),
  ),
  'a desired rule is not removed': planning((plan, { due, cloud }) =>
    plan(due, list(cloud)).every((change) => change.action === 'add' || !ruleOf(due, change).desired),
  ),
  'a present rule is not added again': planning((plan, { due, cloud }) =>
    plan(due, list(cloud)).every(
      (change) =>
        change.action === 'remove' ||
        isChanged(cloud, ruleOf(due, change)) ||
        presentUnder(cloud, keyOf(due, change)).length === 0,
    ),
  ),
  'a rule that is not observed is removed by its recorded id, unless a call is in flight': planning(
    (plan, { due, cloud }) => {
      const planned = plan(due, list(cloud));
      return due.every((rule) => {
        const removals = planned.filter(
          (change) => change.action === 'remove' && change.rule.ruleId === rule.ruleId,
        );
        if (rule.desired || presentUnder(cloud, rule.key).length > 0 || isChanged(cloud, rule)) return true;
        const isOwed = Boolean(rule.recordedId) && !cloud.has(rule.recordedId!) && !rule.inFlight;
        return removals.length === (isOwed ? 1 : 0);
      });
    },
  ),
  'a change has its rule and the cause of that rule': planning((plan, { due, cloud }) =>
    plan(due, list(cloud)).every((change) => {
      const rule = ruleOf(due, change);
      return (
        change.rule === rule && change.cause === (change.action === 'add' ? rule.addCause : rule.removeCause)
      );
    }),
  ),
};

/** A planner that takes the due rules for something else. */
const withRules =
  (change: (rule: DueRule) => DueRule): Plan =>
  (due, observed) =>
    planChanges(due.map(change), observed);

/** Planners with one planted bug each, and the property that must find it. */
const PLANTED_BUGS: Record<keyof typeof PLAN_PROPERTIES, [bug: string, Plan]> = {
  'unmanaged rules are never removed': [
    'removes unmanaged rules',
    (due, observed) =>
      planChanges(
        due,
        observed.map((rule) => ({ ...rule, ownRuleId: rule.ownRuleId ?? 'ours' })),
      ),
  ],
  'one round without failures converges': [
    'plans no removals',
    (due, observed) => planChanges(due, observed).filter(({ action }) => action === 'add'),
  ],
  'rounds without failures converge with several own rules under one key': [
    'ignores keys with several rules',
    (due, observed) =>
      planChanges(due, observed).filter(
        (change) =>
          change.action === 'add' || observed.filter(({ key }) => key === keyOf(due, change)).length === 1,
      ),
  ],
  'a removal targets the key of its rule only, or what it has become': [
    'removes a rule of another key',
    (due, observed) =>
      planChanges(due, observed).map((change) => {
        const other = observed.findLast(({ ownRuleId }) => ownRuleId !== null);
        return change.action === 'remove' && other
          ? { ...change, providerRuleId: other.providerRuleId }
          : change;
      }),
  ],
  'no key is changed twice in a round': [
    'replaces present rules',
    (due, observed) => [
      ...planChanges(due, observed),
      ...due.flatMap((rule): PlannedChange[] => {
        const present = observed.find(({ key, ownRuleId }) => key === rule.key && ownRuleId !== null);
        return rule.desired && present ? [remove(rule, present), add(rule)] : [];
      }),
    ],
  ],
  'removals come first': [
    'plans additions first',
    (due, observed) => planChanges(due, observed).toReversed(),
  ],
  'nothing is planned after convergence': [
    'adds rules that need no change',
    (due, observed) =>
      due.map(
        (rule) =>
          planChanges(due, observed).find((change) => change.rule.ruleId === rule.ruleId) ?? add(rule),
      ),
  ],
  'a rule whose last holder has expired is not added': [
    'adds expired rules',
    withRules((rule) => ({ ...rule, mayOpen: true })),
  ],
  'an unwanted rule is not added': [
    'adds unwanted rules',
    withRules((rule) => ({ ...rule, desired: true, mayOpen: true })),
  ],
  'a desired rule is not removed': [
    'removes expired rules that are still held',
    withRules((rule) => ({ ...rule, desired: rule.desired && rule.mayOpen })),
  ],
  'a present rule is not added again': [
    'adds a rule beside an unmanaged one',
    (due, observed) =>
      planChanges(
        due,
        observed.filter(({ ownRuleId }) => ownRuleId !== null),
      ),
  ],
  'a rule that is not observed is removed by its recorded id, unless a call is in flight': [
    'repeats a removal that is in flight',
    withRules((rule) => ({ ...rule, inFlight: false })),
  ],
  'a change has its rule and the cause of that rule': [
    'uses the cause of another rule',
    (due, observed) =>
      planChanges(due, observed).map((change) =>
        change.action === 'add' ? { ...change, cause: due[0]!.addCause } : change,
      ),
  ],
};

describe('planChanges', () => {
  it.each(entries(PLAN_PROPERTIES))('%s', (_name, property) => {
    expect(fc.check(property(planChanges), RUNS)).toMatchObject({ failed: false });
  });

  const planted = entries(PLANTED_BUGS).map(([name, [bug, mutant]]) => ({ name, bug, mutant }));
  it.each(planted)('a planner that $bug violates "$name"', ({ name, mutant }) => {
    expect(fc.check(PLAN_PROPERTIES[name](mutant), SEARCH).failed).toBe(true);
  });

  it('adds and removes due rules, and ignores present, unmanaged and other rules', () => {
    const rule = (ruleId: string, desired: boolean): DueRule => dueRule({ ruleId, key: ruleId }, desired);
    const [added, removed] = [rule('new', true), rule('old', false)];
    const due = [
      added,
      rule('present', true),
      removed,
      rule('gone', false),
      rule('unmanaged', false),
      rule('allowed', true),
    ];
    const observed = [
      { key: 'present', providerRuleId: 'sgr-1', ownRuleId: 'present' },
      { key: 'old', providerRuleId: 'sgr-2', ownRuleId: 'old' },
      { key: 'unmanaged', providerRuleId: 'sgr-3', ownRuleId: null },
      { key: 'allowed', providerRuleId: 'sgr-4', ownRuleId: null },
      { key: 'other', providerRuleId: 'sgr-5', ownRuleId: 'not due' },
    ];
    expect(planChanges(due, observed)).toEqual([
      { action: 'remove', rule: removed, providerRuleId: 'sgr-2', cause: 'SESSION_EXPIRED' },
      { action: 'add', rule: added, cause: 'SESSION_STARTED' },
    ]);
  });
});
