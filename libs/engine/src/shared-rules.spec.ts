import type { RuleSettlement } from '#rules';
import type { DueRuleRow } from '#engine-store';
import { SharedRules, type Pass } from './access-paths';

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

  const dueAfter = (pass: Pass, settlement = found()): number | null =>
    shared.keepDue([settlement], pass)[0]!.dueInMs;

  it('is due until each of them has shown it, whatever batch its holders’ other rules are in', () => {
    expect(dueAfter(first)).toBe(0);
    expect(dueAfter(second)).toBeNull();
  });

  it('stays due while one of them has not shown it', () => {
    expect(dueAfter(first, found({ state: 'unknown', dueInMs: 900 }))).toBe(900);
    expect(dueAfter(second)).toBe(0);
    expect(dueAfter(second)).toBe(0);
  });

  it('stays due when it failed through one of them: its other holders need it', () => {
    expect(dueAfter(first)).toBe(0);
    expect(dueAfter(second, found({ state: 'absent' }))).toBe(0);
  });

  it('stays due when it changed since the round began: it may have further paths', () => {
    expect(dueAfter(first, found({ revision: 8 }))).toBe(0);
    expect(dueAfter(second, found({ revision: 8 }))).toBe(0);
  });
});
