import type { HostState } from '../state/host-state';
import { NOTHING_TOLD, reportsOf, resultsOf, type Outcome, type Told } from './report';

const state = (...rules: [id: string, unconfirmed: boolean][]): HostState => ({
  version: '1',
  guarded: [],
  unreadable: [],
  rules: rules.map(([id, unconfirmed]) => ({
    id,
    cidr: '10.0.0.1/32',
    protocol: 'tcp',
    ports: [22],
    deadline: Infinity,
    unconfirmed,
  })),
});

const outcome = (
  given: Partial<Outcome> & Pick<Outcome, 'state'>,
  standing: string[],
  exact = true,
): Outcome => ({
  keysOf: new Map(given.state.rules.map(({ id }) => [id, [id]])),
  found: { standing: new Set(standing), exact },
  trouble: null,
  ...given,
});
const told = (named: string[], failed: string[] = []): Told => ({
  named: new Set(named),
  failed: new Set(failed),
});

describe('A report', () => {
  it('says of what somebody waits for that it stands, and of nothing else', () => {
    const { results } = resultsOf(
      outcome({ state: state(['a', true], ['b', false]) }, ['a', 'b']),
      NOTHING_TOLD,
    );
    expect(results).toEqual([{ ruleId: 'a', status: 'APPLIED' }]);
  });

  it('says that something failed in nft’s words, whether somebody waits for it or it stood before', () => {
    const failed = outcome({ state: state(['a', true], ['b', false]), trouble: 'nft: no' }, [], false);
    const { results, told: now } = resultsOf(failed, NOTHING_TOLD);
    expect(results).toEqual([
      { ruleId: 'a', status: 'FAILED', errorMessage: 'nft: no' },
      { ruleId: 'b', status: 'FAILED', errorMessage: 'nft: no' },
    ]);
    const mended = resultsOf(outcome({ state: state(['b', false]) }, ['b']), now);
    expect(mended.results).toContainEqual({ ruleId: 'b', status: 'APPLIED' });
  });

  it('a rule stands when all of its elements do', () => {
    const half = outcome({ state: state(['a', true]), keysOf: new Map([['a', ['x', 'y']]]) }, ['x'], false);
    expect(resultsOf(half, NOTHING_TOLD).results).toMatchObject([{ ruleId: 'a', status: 'FAILED' }]);
  });

  it('says nothing of what is over', () => {
    const over = outcome({ state: state(['a', true]), keysOf: new Map() }, []);
    expect(resultsOf(over, NOTHING_TOLD).results).toEqual([]);
  });

  it('says that something is gone once it was read that it is, and keeps it in mind until then', () => {
    const unsure = resultsOf(outcome({ state: state() }, [], false), told(['a']));
    expect(unsure.results).toEqual([]);
    const sure = resultsOf(outcome({ state: state() }, []), unsure.told);
    expect(sure.results).toEqual([{ ruleId: 'a', status: 'REMOVED' }]);
    expect(sure.told.named.size).toBe(0);
  });

  it('of a table that could not be read it says only what somebody waits for', () => {
    const unread = outcome({ state: state(['a', true], ['b', false]), found: null, trouble: 'no nft' }, []);
    expect(resultsOf(unread, told(['gone'])).results).toEqual([
      { ruleId: 'a', status: 'FAILED', errorMessage: 'no nft' },
    ]);
  });

  it('a rule that cannot be read has failed', () => {
    const unreadable = outcome({ state: { ...state(), unreadable: ['z'] } }, []);
    expect(resultsOf(unreadable, NOTHING_TOLD).results).toMatchObject([{ ruleId: 'z', status: 'FAILED' }]);
  });
});

describe('Reports', () => {
  const results = Array.from({ length: 2001 }, (_, index) => ({
    ruleId: `${index}`,
    status: 'APPLIED' as const,
  }));

  it('come in parts of a thousand, the last of which says that nothing else is open', () => {
    const parts = reportsOf(results, true);
    expect(parts.map((part) => [part.results.length, part.cleared])).toEqual([
      [1000, false],
      [1000, false],
      [1, true],
    ]);
    expect(parts.flatMap((part) => part.results)).toEqual(results);
  });

  it('come even when there is nothing to say but that nothing else is open', () => {
    expect(reportsOf([], true)).toEqual([{ results: [], cleared: true }]);
  });
});
