import type { DueRuleRow, HolderRow } from '#engine-store';
import { toRuleChange } from './changes';

const holder = (expiresAt: number | null, more: Partial<HolderRow> = {}): HolderRow =>
  ({ status: 'APPLIED', config: {}, expiresAt, ...more }) as HolderRow;
const addedFor = (...holders: HolderRow[]) => {
  const rule = { ruleId: 'rule', holders } as unknown as DueRuleRow;
  return toRuleChange({ action: 'add', rule, cause: 'SESSION_STARTED' }, 'deployment');
};

describe('A rule that is added', () => {
  it.each<[string, (number | null)[], number | null]>([
    ['its only holder ends', [100], 100],
    ['the last of its holders ends, whichever comes first', [100, 300, 200], 300],
    ['never, when one of them has no end', [100, null], null],
  ])('says in its mark when it runs out: when %s', (_, ends, expiresAt) => {
    expect(addedFor(...ends.map((end) => holder(end)))).toMatchObject({
      mark: { deployment: 'deployment', ruleId: 'rule', expiresAt },
    });
  });

  it('is made as the resource of a holder that stays asks for', () => {
    const leaving = holder(100, { status: 'REMOVING', config: { priority: 1 } });
    expect(addedFor(leaving, holder(200, { config: { priority: 2 } }))).toMatchObject({
      config: { priority: 2 },
    });
  });
});
