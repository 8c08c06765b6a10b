import type { DueHolder, DueRule, TargetRead } from '#rules';
import { readFresh, SLOW_READ_MS, toRuleChange } from './provider-calls';

const holder = (expiresAt: number | null, more: Partial<DueHolder> = {}): DueHolder =>
  ({ status: 'APPLIED', config: {}, expiresAt, ...more }) as DueHolder;
const addedFor = (...holders: DueHolder[]) => {
  const rule = { ruleId: 'rule', holders } as unknown as DueRule;
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

describe('The read before changes', () => {
  /** When a read ends that began at 0 and was repeated as often as there are durations for. */
  const endOf = async (...durations: readonly number[]): Promise<number> => {
    let now = 0;
    const left = [...durations];
    const read = (): Promise<TargetRead> => {
      now += left.shift()!;
      return Promise.resolve({ rules: [] });
    };
    const { startedAt, endedAt } = await readFresh({ now: () => now }, read);
    return endedAt - startedAt;
  };

  it('is repeated when it took so long that the process may have been paused after the answer', async () => {
    expect(await endOf(SLOW_READ_MS + 1, 100)).toBe(100);
  });

  it('is repeated once only: a provider may be slow', async () => {
    expect(await endOf(9000, 8000, 100)).toBe(8000);
  });

  it('is not repeated when it took its usual time', async () => {
    expect(await endOf(SLOW_READ_MS, 100)).toBe(SLOW_READ_MS);
  });
});
