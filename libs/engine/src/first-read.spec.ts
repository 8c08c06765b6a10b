import type { DueRuleRow, Lease } from '#engine-store';
import { RecentReads, REUSED_FOR_MS } from './first-read';
import type { Pass } from './passes';

const unwanted = (key: string): DueRuleRow =>
  ({ ruleId: key, key, desired: false, inFlight: false, inDoubt: false }) as DueRuleRow;

const pass = (rules: readonly DueRuleRow[], credentialId = 'credential'): Pass => ({
  access: { credentialId, region: null, organizationId: null },
  rules,
  shared: new Set(),
  waiting: [],
});

const holding = (generation: number): { lease: Lease } => ({
  lease: { targetId: 'target', generation: `${generation}` } as Lease,
});

describe('A recent read', () => {
  let now: number;
  let reads: RecentReads;

  beforeEach(() => {
    now = 100_000;
    reads = new RecentReads({ now: () => now });
    const observed = ['a', 'b', 'c'].map((key) => ({ key, providerRuleId: `id-${key}`, ownRuleId: key }));
    reads.keep(holding(7), pass([unwanted('a'), unwanted('b')]), {
      rules: observed,
      startedAt: now,
      endedAt: now,
    });
  });

  const serves = (given: Pass, generation = 8): boolean => reads.before(holding(generation), given) !== null;

  it('serves removals of what it showed, for a second', () => {
    expect(serves(pass([unwanted('a')]))).toBe(true);
    now += REUSED_FOR_MS;
    expect(serves(pass([unwanted('a'), unwanted('b')]))).toBe(true);
    now += 1;
    expect(serves(pass([unwanted('a')]))).toBe(false);
  });

  it.each([
    ['a rule that its pass was not about', pass([unwanted('a'), unwanted('c')])],
    ['a rule that it did not show', pass([unwanted('d')])],
    ['a desired rule', pass([{ ...unwanted('a'), desired: true }])],
    ['a rule with a call in flight', pass([{ ...unwanted('a'), inFlight: true }])],
    ['a rule in doubt', pass([{ ...unwanted('a'), inDoubt: true }])],
    ['another credential', pass([unwanted('a')], 'other')],
  ])('does not serve %s', (_, given) => expect(serves(given)).toBe(false));

  it('does not serve after another worker held the target', () => {
    expect(serves(pass([unwanted('a')]), 7)).toBe(true);
    expect(serves(pass([unwanted('a')]), 9)).toBe(false);
  });
});
