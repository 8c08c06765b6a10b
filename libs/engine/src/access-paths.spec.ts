import type { DueRuleRow } from '#engine-store';
import { roundOf, type Pass } from './access-paths';

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
