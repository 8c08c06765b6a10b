import type { DueRuleRow } from '#engine-store';
import type { RuleSettlement } from '#rules';
import { roundOf, SharedRules, type Pass } from './access-paths';

const pass = (name: string, organizationId: string | null, ...desired: boolean[]): Pass => ({
  access: { credentialId: name, region: null, organizationId },
  rules: desired.map(
    (isDesired, index) => ({ ruleId: `${name}-${index}`, desired: isDesired }) as DueRuleRow,
  ),
  shared: new Set(),
  waiting: [],
});
const names = (all: readonly Pass[]): string[] => roundOf(all).map(({ access }) => access.credentialId);
const [ADD, REMOVE] = [true, false];

describe('roundOf', () => {
  it('starts with all passes with removals, of every organization', () => {
    const all = [
      pass('a adds', 'a', ADD),
      pass('b removes', 'b', REMOVE),
      pass('a does both', 'a', ADD, REMOVE),
      pass('b removes elsewhere', 'b', REMOVE),
      pass('b removes through a third path', 'b', REMOVE),
    ];
    expect(names(all)).toEqual([
      'b removes',
      'a does both',
      'b removes elsewhere',
      'b removes through a third path',
      'a adds',
    ]);
  });

  it('limits passes with additions only to two per organization', () => {
    const all = [
      ...['a1', 'a2', 'a3', 'a4'].map((name) => pass(name, 'a', ADD)),
      pass('b1', 'b', ADD),
      pass('gone1', null, ADD),
    ];
    expect(names(all)).toEqual(['a1', 'a2', 'b1', 'gone1']);
  });
});

const through = (credentialId: string): Pass => ({
  access: { credentialId, region: null, organizationId: 'a' },
  rules: [{ ruleId: 'rule', revision: 7 } as unknown as DueRuleRow],
  shared: new Set(['rule']),
  waiting: [],
});
const found = (more: Partial<RuleSettlement> = {}): RuleSettlement =>
  ({ ruleId: 'rule', revision: 7, state: 'present', dueInMs: null, ...more }) as unknown as RuleSettlement;

describe('A rule that waits for several access paths', () => {
  const [first, second] = [through('one'), through('other')];
  let shared: SharedRules;

  beforeEach(() => {
    shared = new SharedRules([first, second]);
  });

  it('stays as a pass has read it when the next one may not read', () => {
    shared.keepDue([found({ providerRuleId: 'sgr-1' })], first);
    shared.keepDue([found({ state: null, providerRuleId: null, dueInMs: 500 })], second);
    const [rule] = shared.asFound(through('third'), 0).rules;
    expect(rule).toMatchObject({ state: 'present', providerRuleId: 'sgr-1', recordedId: 'sgr-1' });
  });

  const dueAfter = (one: Pass, settlement = found()): number | null =>
    shared.keepDue([settlement], one)[0]!.dueInMs;

  it('is due until each of them has shown it, whatever batch its holders’ other rules are in', () => {
    expect(dueAfter(first)).toBe(0);
    expect(dueAfter(second)).toBeNull();
  });

  it('stays due while one of them has not shown it', () => {
    expect(dueAfter(first, found({ state: 'unknown', dueInMs: 900 }))).toBe(900);
    expect(dueAfter(second)).toBe(0);
    expect(dueAfter(second)).toBe(0);
  });

  it('is due at once for the others when it is shown, also while a call may still take effect', () => {
    expect(dueAfter(first, found({ dueInMs: 20_000 }))).toBe(0);
    expect(dueAfter(second, found({ dueInMs: 20_000 }))).toBe(20_000);
  });

  it('stays due when it failed through one of them: its other holders need it', () => {
    expect(dueAfter(first)).toBe(0);
    expect(dueAfter(second, found({ state: 'absent' }))).toBe(0);
  });

  it('stays due when it changed since the round began: it may have further paths', () => {
    expect(dueAfter(first, found({ revision: 8 }))).toBe(0);
    expect(dueAfter(second, found({ revision: 8 }))).toBe(0);
  });

  it('is known to the next pass as the one before has left it', () => {
    shared.keepDue([found({ providerRuleId: 'sgr-1', isUnmanaged: false, inFlight: true })], first);
    expect(shared.asFound(second, 5000).rules).toEqual([
      expect.objectContaining({ state: 'present', recordedId: 'sgr-1', inFlightMs: 5000, inDoubt: true }),
    ]);
  });
});
