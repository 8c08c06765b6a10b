import type { HostState } from '../state/host-state';
import { desiredRule, hostState } from '../state/host-state.testing';
import { NOTHING_REPORTED, reportedGuard, reportsOf, resultsOf, type Outcome, type Reported } from './report';

const state = (...rules: [id: string, unconfirmed: boolean][]): HostState =>
  hostState({ rules: rules.map(([id, unconfirmed]) => desiredRule(id, { unconfirmed })) });

const outcome = (
  given: Partial<Outcome> & Pick<Outcome, 'state'>,
  present: string[],
  exact = true,
): Outcome => ({
  keysOf: new Map(given.state.rules.map(({ id }) => [id, [id]])),
  observed: { present: new Set(present), exact },
  error: null,
  refused: new Map(),
  ...given,
});
const reportedBefore = (known: string[], failed: string[] = []): Reported => ({
  known: new Set(known),
  failed: new Set(failed),
});

describe('A report', () => {
  it('confirms unconfirmed rules that are present, and no others', () => {
    const { results } = resultsOf(
      outcome({ state: state(['a', true], ['b', false]) }, ['a', 'b']),
      NOTHING_REPORTED,
    );
    expect(results).toEqual([{ ruleId: 'a', status: 'APPLIED' }]);
  });

  it('reports a failure with nft’s message for every missing rule, and its recovery later', () => {
    const failed = outcome({ state: state(['a', true], ['b', false]), error: 'nft: no' }, [], false);
    const { results, reported } = resultsOf(failed, NOTHING_REPORTED);
    expect(results).toEqual([
      { ruleId: 'a', status: 'FAILED', errorMessage: 'nft: no' },
      { ruleId: 'b', status: 'FAILED', errorMessage: 'nft: no' },
    ]);
    const repaired = resultsOf(outcome({ state: state(['b', false]) }, ['b']), reported);
    expect(repaired.results).toContainEqual({ ruleId: 'b', status: 'APPLIED' });
  });

  it('counts a rule as present only with all of its elements', () => {
    const half = outcome({ state: state(['a', true]), keysOf: new Map([['a', ['x', 'y']]]) }, ['x'], false);
    expect(resultsOf(half, NOTHING_REPORTED).results).toMatchObject([{ ruleId: 'a', status: 'FAILED' }]);
  });

  it('leaves expired rules out', () => {
    const expired = outcome({ state: state(['a', true]), keysOf: new Map() }, []);
    expect(resultsOf(expired, NOTHING_REPORTED).results).toEqual([]);
  });

  it('reports a removal once it was read back, and retries it until then', () => {
    const unsure = resultsOf(outcome({ state: state() }, [], false), reportedBefore(['a']));
    expect(unsure.results).toEqual([]);
    const sure = resultsOf(outcome({ state: state() }, []), unsure.reported);
    expect(sure.results).toEqual([{ ruleId: 'a', status: 'REMOVED' }]);
    expect(sure.reported.known.size).toBe(0);
  });

  it('fails only unconfirmed rules when the table could not be read', () => {
    const unread = outcome({ state: state(['a', true], ['b', false]), observed: null, error: 'no nft' }, []);
    expect(resultsOf(unread, reportedBefore(['gone'])).results).toEqual([
      { ruleId: 'a', status: 'FAILED', errorMessage: 'no nft' },
    ]);
  });

  it('fails a rule that the host refuses, with its reason, and one that the agent cannot read', () => {
    const given = { ...state(['a', true]), unreadable: ['z'] };
    const { results } = resultsOf(
      outcome({ state: given, refused: new Map([['a', 'never']]) }, []),
      NOTHING_REPORTED,
    );
    expect(results.toSorted((one, other) => one.ruleId.localeCompare(other.ruleId))).toMatchObject([
      { ruleId: 'a', status: 'FAILED', errorMessage: 'never' },
      { ruleId: 'z', status: 'FAILED' },
    ]);
  });
});

describe('Reports of many results', () => {
  const results = Array.from({ length: 2001 }, (_, index) => ({
    ruleId: `${index}`,
    status: 'APPLIED' as const,
  }));

  it('are split into batches of a thousand, of which the last has cleared', () => {
    const parts = reportsOf(results, true, null);
    expect(parts.map((part) => [part.results.length, part.cleared])).toEqual([
      [1000, false],
      [1000, false],
      [1, true],
    ]);
    expect(parts.flatMap((part) => part.results)).toEqual(results);
  });

  it('are split so that the server takes each body', () => {
    const failed = results.map(({ ruleId }) => ({
      ruleId,
      status: 'FAILED' as const,
      errorMessage: 'e'.repeat(400),
    }));
    const sizes = reportsOf(failed, true, null).map((part) => JSON.stringify(part).length);
    expect(Math.max(...sizes)).toBeLessThan(70_000);
  });

  it('are one report without results when only cleared is to be reported', () => {
    expect(reportsOf([], true, null)).toEqual([{ results: [], cleared: true }]);
  });

  it('of which the last says what is guarded, within what the server takes', () => {
    const ports = Array.from({ length: 2500 }, (_, index) => index + 1);
    const traffic = { protocol: 'tcp', ports } as const;
    const connections = [{ address: '192.0.2.7', port: 22 }];
    const status = { guarded: [traffic], waiting: [], leftAlone: [], refused: [], connections };
    const chains = ['inet \u001b[2J input', ...Array<string>(30).fill('x'.repeat(300))];
    const guard = reportedGuard(status, new Set(ports.map((port) => `guarded_ports 6 . ${port}`)), chains);
    expect(guard.guarded.map((part) => part.ports.length)).toEqual([1000, 1000, 500]);
    // what was not read back is not guarded
    const partly = reportedGuard(status, new Set(['guarded_ports 6 . 7']), []);
    expect(partly.guarded).toEqual([{ protocol: 'tcp', ports: [7] }]);
    expect(guard.connections).toEqual([{ address: '192.0.2.7', protocol: 'tcp', port: 22 }]);
    expect(guard.otherChains).toEqual(['inet ?[2J input', ...Array<string>(19).fill('x'.repeat(200))]);
    expect(reportsOf(results, true, guard).map((part) => part.guard)).toEqual([
      undefined,
      undefined,
      undefined,
      guard,
    ]);
  });
});
