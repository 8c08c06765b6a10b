import { planChanges } from './planner';
import { add, dueRule, judge } from './planner.testing';
import type { ObservedRule } from './provider';

describe('A rule that another program changed', () => {
  const key = '203.0.113.9/32 tcp 22';
  const unwanted = dueRule({ ruleId: 'rule', key, recordedId: 'sgr-1' }, false);
  const desired = { ...unwanted, desired: true, mayOpen: true };
  const shown = (other: Partial<ObservedRule>): ObservedRule => ({
    key,
    providerRuleId: 'sgr-1',
    ownRuleId: 'rule',
    ...other,
  });

  it.each<[string, ObservedRule[], string]>([
    ['in its address', [shown({ key: '0.0.0.0/0 tcp 22' })], 'it lets in 0.0.0.0/0 tcp 22'],
    [
      'without our mark',
      [shown({ key: '0.0.0.0/0 tcp 22', ownRuleId: null })],
      'it lets in 0.0.0.0/0 tcp 22',
    ],
    ['to let in more', [shown({}), shown({ key: '0.0.0.0/0 tcp 22' })], 'it lets in 0.0.0.0/0 tcp 22 too'],
    ['as no key shows', [shown({ difference: 'it is disabled', inForce: false })], 'it is disabled'],
    [
      'and created anew',
      [shown({ key: '0.0.0.0/0 tcp 22', providerRuleId: 'sgr-2' })],
      'it lets in 0.0.0.0/0 tcp 22',
    ],
  ])('%s is written again while it is desired, and removed when it is not', (_, observed, changedTo) => {
    const { providerRuleId } = observed[0]!;
    expect(planChanges([desired], observed)).toEqual([{ ...add(desired), replaces: [providerRuleId] }]);
    expect(planChanges([unwanted], observed)).toMatchObject([{ action: 'remove', providerRuleId }]);
    for (const rule of [desired, unwanted])
      expect(judge([rule], new Map(), observed)).toMatchObject([
        { kind: 'retry', ...(rule.desired && { changedTo }) },
      ]);
  });

  it('is not settled by the answer to its write, nor given up by a refusal', () => {
    const observed = [shown({}), shown({ key: '0.0.0.0/0 tcp 22' })];
    const done = new Map([['rule', { result: 'done', providerRuleId: 'sgr-1' } as const]]);
    expect(judge([desired], done, observed)).toMatchObject([{ kind: 'retry', unknown: true }]);
    const refusal = { result: 'refused', kind: 'denied', message: 'no' } as const;
    expect(judge([desired], new Map([['rule', refusal]]), observed)).toMatchObject([
      { kind: 'retry', message: 'no', refused: true },
    ]);
  });

  it('is as it was when the rule under its recorded id is, whatever a copy of it lets in', () => {
    const copy = shown({ key: '0.0.0.0/0 tcp 22', providerRuleId: 'sgr-2' });
    expect(planChanges([desired], [shown({}), copy])).toEqual([]);
    expect(judge([desired], new Map(), [copy, shown({})])).toMatchObject([{ kind: 'present' }]);
  });
});

describe('A removal that the provider does not find', () => {
  const rule = dueRule({ ruleId: 'rule', key: '203.0.113.9/32 tcp 22', recordedId: 'sgr-1' }, false);
  const absentAnswer = new Map([
    ['rule', { result: 'done', providerRuleId: null, wasAbsent: true } as const],
  ]);
  const judged = (removingMs: number | null): unknown =>
    judge([{ ...rule, removingMs }], absentAnswer, [])[0];

  it('is in doubt while what was seen a moment ago may be missing in a late answer', () => {
    expect(judged(3000)).toMatchObject({ kind: 'retry', observedPresent: false, againInMs: 27_000 });
  });

  it.each([30_000, null])('is over when the rule has been removed for %s ms', (removingMs) => {
    expect(judged(removingMs)).toMatchObject({ kind: 'absent' });
  });
});
