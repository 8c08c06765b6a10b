import type { DueRuleRow, HolderRow } from '#engine-store';
import { toRuleChange } from './changes';

const holder = (expiresAt: number | null, more: Partial<HolderRow> = {}): HolderRow =>
  ({ status: 'APPLIED', config: {}, expiresAt, ...more }) as HolderRow;
const addedFor = (...holders: HolderRow[]) => {
  const rule = { ruleId: 'rule', holders } as unknown as DueRuleRow;
  return toRuleChange({ action: 'add', rule, cause: 'SESSION_STARTED' }, 'deployment');
};

describe('toRuleChange', () => {
  it.each<[string, (number | null)[], number | null]>([
    ['of its only holder', [100], 100],
    ['of the last of its holders', [100, 300, 200], 300],
    ['never, with a holder without an end', [100, null], null],
  ])('writes the planned end into the mark: %s', (_, ends, expiresAt) => {
    expect(addedFor(...ends.map((end) => holder(end)))).toMatchObject({
      mark: { deployment: 'deployment', ruleId: 'rule', expiresAt },
    });
  });

  it('uses the config of a holder that is not being removed', () => {
    const leaving = holder(100, { status: 'REMOVING', config: { priority: 1 } });
    expect(addedFor(leaving, holder(200, { config: { priority: 2 } }))).toMatchObject({
      config: { priority: 2 },
    });
  });
});
