import { claimsOf, planChanges } from './planner';
import type { ChangeResult, ObservedRule } from './provider';
import { absent, add, again, dueRule, judge, judgedUnread, remove, type DueRule } from './planner.testing';

describe('A rule of a target that could not be read', () => {
  const desired = dueRule({ ruleId: 'desired', key: 'a' }, true);
  const unwanted = dueRule({ ruleId: 'unwanted', key: 'b', inFlight: true }, false);

  it.each(['throttled', 'transient', 'conflict'] as const)('retries everything after %s', (kind) => {
    expect(judgedUnread([desired, unwanted], kind, 'why')).toEqual([
      again(desired, 'why'),
      again(unwanted, 'why'),
    ]);
  });

  it.each(['denied', 'quota', 'invalid', 'wrong-family'] as const)(
    'fails additions and retries removals after %s',
    (kind) => {
      expect(judgedUnread([unwanted, desired], kind, 'why')).toEqual([
        { ...again(unwanted, 'why'), refused: true },
        { rule: desired, kind: 'failed', message: 'why', refusedAs: kind },
      ]);
    },
  );

  const GONE_MS = 6 * 3_600_000;
  it.each([
    ['is given up when its target is missing for so long', 'target-missing', GONE_MS, false, 'absent'],
    ['is retried when its target is missing for less', 'target-missing', GONE_MS - 1, false, 'retry'],
    ['is retried while a call is in flight', 'target-missing', GONE_MS + 1, true, 'retry'],
    ['is retried however long access is denied', 'denied', GONE_MS + 1, false, 'retry'],
  ] as const)('whose removal %s', (_, kind, missingMs, inFlight, verdict) => {
    expect(judgedUnread([{ ...unwanted, inFlight }], kind, 'why', missingMs)[0]!.kind).toBe(verdict);
  });

  it('retries additions on a missing target: it may be there in a moment', () => {
    expect(judgedUnread([desired], 'target-missing', 'why')).toEqual([
      { ...again(desired, 'why'), refused: true },
    ]);
    const refused = new Map([
      ['desired', { result: 'refused', kind: 'target-missing', message: 'why' }],
    ]) as ReadonlyMap<string, ChangeResult>;
    expect(judge([desired], refused, [])).toEqual([{ ...again(desired, 'why'), refused: true }]);
  });
});

describe('A desired rule without effect', () => {
  const rule = dueRule({ ruleId: 'rule', key: '203.0.113.1/32 tcp 22' }, true);
  const blocked = {
    key: rule.key,
    providerRuleId: 'ours',
    ownRuleId: 'rule',
    noEffect: 'blocked by deny-all',
  };

  it('is given up with the reason, and not added again', () => {
    expect(planChanges([rule], [blocked])).toEqual([]);
    expect(judge([rule], new Map(), [blocked])).toMatchObject([
      { kind: 'present', providerRuleId: 'ours', noEffect: 'blocked by deny-all' },
    ]);
  });

  it('is present when another rule lets its address in', () => {
    const other = { key: rule.key, providerRuleId: 'theirs', ownRuleId: null };
    expect(judge([rule], new Map(), [other, blocked])[0]).not.toHaveProperty('noEffect');
  });

  it('is removed like any other when it is not desired', () => {
    const unwanted = { ...rule, desired: false };
    expect(planChanges([unwanted], [blocked])).toMatchObject([{ action: 'remove', providerRuleId: 'ours' }]);
    const note = 'left behind';
    const results = new Map([['rule', { result: 'done', providerRuleId: null, note } as const]]);
    expect(judge([unwanted], results, [])).toEqual([{ rule: unwanted, kind: 'absent', note }]);
  });
});

describe('A recorded rule that is not observed', () => {
  const rule = dueRule({ ruleId: 'rule', key: '203.0.113.1/32 tcp 22', recordedId: 'sgr-1' }, false);
  const answer = (result: ChangeResult): ReadonlyMap<string, ChangeResult> =>
    new Map([[rule.ruleId, result]]);

  it('is removed by its recorded id, unless an unmanaged rule is present under its key', () => {
    const desired = { ...rule, desired: true, mayOpen: true };
    expect(planChanges([rule], [])).toEqual([remove(rule, { providerRuleId: 'sgr-1' })]);
    expect(planChanges([desired], [])).toEqual([add(desired)]);
    const unmanaged = { key: rule.key, providerRuleId: 'sgr-9', ownRuleId: null };
    expect(planChanges([rule], [unmanaged])).toEqual([]);
  });

  it('is not removed again while a call is in flight, unless it is observed', () => {
    expect(planChanges([{ ...rule, inFlight: true }], [])).toEqual([]);
    const present = { key: rule.key, providerRuleId: 'sgr-1', ownRuleId: rule.ruleId };
    expect(planChanges([{ ...rule, inFlight: true }], [present])).toHaveLength(1);
  });

  it('is absent when the removal is done, and retried after a retryable refusal', () => {
    const kindAfter = (kind: 'throttled' | 'conflict' | 'invalid'): string =>
      judge([rule], answer({ result: 'refused', kind, message: '' }), [])[0]!.kind;
    expect(judge([rule], answer({ result: 'done', providerRuleId: null }), [])[0]!.kind).toBe('absent');
    expect([kindAfter('throttled'), kindAfter('conflict'), kindAfter('invalid')]).toEqual([
      'retry',
      'retry',
      'absent',
    ]);
  });

  it('is in doubt after an addition that was done but not observed', () => {
    const desired = { ...rule, desired: true, mayOpen: true, recordedId: null };
    expect(judge([desired], answer({ result: 'done', providerRuleId: 'sgr-1' }), [])[0]).toMatchObject({
      kind: 'retry',
      unknown: true,
    });
  });
});

describe('A rule of ours that is present but not in force', () => {
  const key = '203.0.113.7/32 tcp 22';
  const inactive: ObservedRule = { key, providerRuleId: 'bent', ownRuleId: 'rule', inForce: false };
  const due = (desired: boolean): DueRule => dueRule({ ruleId: 'rule', key, mayOpen: true }, desired);

  it('is added again while it is desired, and is not present until then', () => {
    expect(planChanges([due(true)], [inactive])).toEqual([add(due(true))]);
    expect(judge([due(true)], new Map(), [inactive])).toMatchObject([{ kind: 'retry' }]);
    expect(judge([due(true)], new Map(), [{ key, providerRuleId: 'bent', ownRuleId: 'rule' }])).toMatchObject(
      [{ kind: 'present' }],
    );
  });

  it('counts as present while it is unwanted, and is removed', () => {
    expect(planChanges([due(false)], [inactive])).toEqual([remove(due(false), inactive)]);
    expect(judge([due(false)], new Map(), [inactive])).toMatchObject([{ kind: 'retry' }]);
    expect(judge([due(false)], new Map(), [])).toMatchObject([{ kind: 'absent' }]);
  });

  it('is not added again beside an unmanaged rule in force', () => {
    const unmanaged: ObservedRule = { key, providerRuleId: 'office', ownRuleId: null };
    expect(planChanges([due(true)], [unmanaged, inactive])).toEqual([]);
    expect(judge([due(true)], new Map(), [unmanaged, inactive])).toMatchObject([
      { kind: 'present', unmanaged: true },
    ]);
  });
});

describe('A recorded rule without our mark', () => {
  const key = '203.0.113.8/32 tcp 22';
  const recorded = { ruleId: 'rule', key, recordedId: 'sgr-1' };
  const unwanted = dueRule({ ...recorded, removeCause: 'USER_OFFBOARDED' }, false);
  const bare: ObservedRule = { key, providerRuleId: 'sgr-1', ownRuleId: null };
  const unmanaged: ObservedRule = { key, providerRuleId: 'sgr-9', ownRuleId: null };

  it('is removed like any other, with its own cause', () => {
    expect(planChanges([unwanted], [bare])).toEqual([
      { action: 'remove', rule: unwanted, providerRuleId: 'sgr-1', cause: 'USER_OFFBOARDED' },
    ]);
  });

  it('is absent only when it is no longer observed, and present while it is desired', () => {
    expect(judge([unwanted], new Map(), [bare])).toMatchObject([{ kind: 'retry', observedPresent: true }]);
    expect(judge([unwanted], new Map(), [])).toEqual([absent(unwanted)]);
    expect(judge([dueRule(recorded, true)], new Map(), [bare])).toMatchObject([
      { kind: 'present', providerRuleId: 'sgr-1', unmanaged: false },
    ]);
  });

  it.each([
    ['before it', [unmanaged, bare]],
    ['after it', [bare, unmanaged]],
  ])('is removed instead of an unmanaged rule under the same key, %s', (_, observed) => {
    expect(planChanges([unwanted], observed)).toEqual([remove(unwanted, bare)]);
    expect(judge([dueRule(recorded, true)], new Map(), observed)).toMatchObject([
      { providerRuleId: 'sgr-1', unmanaged: false },
    ]);
  });

  it.each([
    ['an unmanaged rule has another id under its key', unwanted, unmanaged],
    ['it has no recorded id', { ...unwanted, recordedId: null }, bare],
  ])('is unmanaged when %s', (_, rule, observed) => {
    expect(planChanges([rule], [observed])).toEqual([]);
    expect(judge([rule], new Map(), [observed])).toEqual([absent(rule)]);
    expect(judge([{ ...rule, desired: true }], new Map(), [observed])).toMatchObject([
      { kind: 'present', unmanaged: true },
    ]);
  });
});

describe('claimsOf', () => {
  const rule = (ruleId: string, state: 'absent' | 'unknown' | 'present', isUnmanaged = false) => ({
    ruleId,
    key: `key of ${ruleId}`,
    state,
    isUnmanaged,
  });

  it('returns rules recorded as present or unknown', () => {
    expect(claimsOf([rule('in', 'present'), rule('sent', 'unknown'), rule('out', 'absent')])).toEqual(
      new Map([
        ['key of in', 'in'],
        ['key of sent', 'sent'],
      ]),
    );
  });

  it.each(['unknown', 'present'] as const)('excludes unmanaged rules (%s)', (state) => {
    expect(claimsOf([rule('office', state, true)])).toEqual(new Map());
  });
});

describe('An addition without an answer', () => {
  const rule = dueRule({ ruleId: 'rule', key: 'a' }, true);
  const isUnknown = (ownRuleId: string | null): unknown =>
    judge([rule], new Map([['rule', { result: 'unknown', message: '' }]]), [
      { key: 'a', providerRuleId: 'sgr-1', ownRuleId },
    ])[0];

  it('has taken effect when the rule is observed under its id', () => {
    expect(isUnknown('rule')).toMatchObject({ kind: 'present', unknown: false });
  });

  it.each([
    ['another program’s', null],
    ['an orphan', 'other'],
  ])('may still take effect when the rule observed is %s', (_, ownRuleId) => {
    expect(isUnknown(ownRuleId)).toMatchObject({ kind: 'present', unknown: true });
  });
});
