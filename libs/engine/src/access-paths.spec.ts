import { asOrganizationId, type DueRule } from '#rules';
import { stepsOf } from './access-paths';

/** Rules that wait for, or are removed through, the access path of this name. */
const path = (name: string, organizationId: string | null, ...desired: boolean[]): DueRule[] =>
  desired.map((isDesired, index) => {
    const access = {
      credentialId: name,
      region: null,
      organizationId: asOrganizationId(`${organizationId}`),
    };
    return {
      ruleId: `${name}-${index}`,
      desired: isDesired,
      row: { attempts: 0 },
      writtenWith: null,
      holders: [{ status: isDesired ? 'PENDING' : 'REMOVING', access }],
    } as unknown as DueRule;
  });
const names = (all: readonly DueRule[][]): string[] =>
  stepsOf({ now: 0, rules: all.flat() }).map(({ access }) => access.credentialId);
const [ADD, REMOVE] = [true, false];

describe('The steps of a round', () => {
  it('start with all paths with removals, of every organization', () => {
    const all = [
      path('a adds', 'a', ADD),
      path('b removes', 'b', REMOVE),
      path('a does both', 'a', ADD, REMOVE),
      path('b removes elsewhere', 'b', REMOVE),
      path('b removes through a third path', 'b', REMOVE),
    ];
    expect(names(all)).toEqual([
      'b removes',
      'a does both',
      'b removes elsewhere',
      'b removes through a third path',
      'a adds',
    ]);
  });

  it('are two per organization at most where there are only additions', () => {
    const all = [
      ...['a1', 'a2', 'a3', 'a4'].map((name) => path(name, 'a', ADD)),
      path('b1', 'b', ADD),
      path('gone1', null, ADD),
    ];
    expect(names(all)).toEqual(['a1', 'a2', 'b1', 'gone1']);
  });
});
