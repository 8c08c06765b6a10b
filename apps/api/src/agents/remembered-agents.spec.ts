import { Logger } from '@nestjs/common';
import type {
  AgentPollStore,
  AgentRule,
  AgentState,
  AgentVisit,
  PolledAgent,
  ProvenPoll,
} from '#engine-store';
import type { Database } from '#entities';
import { asOrganizationId } from '#rules';
import type { AgentStateWatcher, StateWatch } from './agent-state-watcher';
import { RememberedAgents } from './remembered-agents';

const ORGANIZATION = asOrganizationId('8a3f6f0e-0000-4000-8000-000000000000');
const VISIT: AgentVisit = {
  name: 'one',
  targetKey: 'AGENT:host:one',
  keyId: 'key',
  instance: 'machine',
  address: '192.0.2.1',
  software: 'agent 1',
};

const rule = (secondsLeft: number | null): AgentRule => ({
  id: 'rule',
  address: '203.0.113.7/32',
  protocol: 'tcp',
  ports: [{ from: 22, to: 22 }],
  secondsLeft,
  unconfirmed: false,
  maxSilenceSeconds: null,
  holders: [],
});

const stateOf = (version: string, ...rules: AgentRule[]): AgentState => ({
  version,
  serverTime: new Date('2030-01-01T00:00:00Z'),
  guarded: [],
  proposed: [],
  confirmed: [],
  released: [],
  rules,
});

describe('A remembered agent', () => {
  const watch = { isNotified: false, isEnded: false };
  const watcher = { isListening: true, told: [] as string[] };
  const asked: PolledAgent[][] = [];
  let answers: (agents: readonly PolledAgent[]) => Promise<Map<string, ProvenPoll>>;
  let agents: RememberedAgents;

  const asStateWatch = (): StateWatch => ({
    get isNotified() {
      return watch.isNotified;
    },
    changed: () => Promise.resolve(),
    end: () => (watch.isEnded = true),
  });

  const proves = (state: AgentState): typeof answers => {
    return (polled) =>
      Promise.resolve(new Map(polled.map(({ agentId }) => [agentId, { state, keySecondsLeft: null }])));
  };

  const remember = (state = stateOf('1-a'), keySecondsLeft: number | null = null): void =>
    agents.remember(
      VISIT,
      ORGANIZATION,
      'agent',
      { state, keySecondsLeft },
      asStateWatch(),
      performance.now(),
    );

  const unchanged = (visit: Partial<AgentVisit> = {}, version = '1-a'): AgentState | null =>
    agents.unchanged({ ...VISIT, ...visit }, version);

  beforeEach(() => {
    jest.useFakeTimers();
    jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
    Object.assign(watch, { isNotified: false, isEnded: false });
    Object.assign(watcher, { isListening: true, told: [] });
    asked.length = 0;
    answers = proves(stateOf('1-a'));
    const polls = {
      prove: (_: unknown, polled: readonly PolledAgent[]) => {
        asked.push([...polled]);
        return answers(polled);
      },
    };
    const feed = {
      get isListening() {
        return watcher.isListening;
      },
      notified: (key: string) => void watcher.told.push(key),
    };
    agents = new RememberedAgents(
      { autocommit: null } as unknown as Database,
      polls as unknown as AgentPollStore,
      feed as unknown as AgentStateWatcher,
    );
    agents.onModuleInit();
  });
  afterEach(() => {
    agents.onModuleDestroy();
    jest.useRealTimers();
    jest.restoreAllMocks();
  });

  it('is answered with its state, whose times have passed on', async () => {
    remember(stateOf('1-a', rule(600), rule(null)));
    await jest.advanceTimersByTimeAsync(10_000);
    expect(unchanged()).toEqual({
      ...stateOf('1-a', rule(590), rule(null)),
      serverTime: new Date('2030-01-01T00:00:10Z'),
    });
  });

  it.each([
    ['another version', {}, '2-b'],
    ['another key', { keyId: 'other' }, '1-a'],
    ['another installation', { instance: 'other' }, '1-a'],
    ['another address', { address: '192.0.2.2' }, '1-a'],
    ['another program', { software: 'agent 2' }, '1-a'],
    ['another host', { targetKey: 'AGENT:host:two' }, '1-a'],
  ])('with %s is not known, and stays remembered', (_, visit, version) => {
    remember();
    expect(unchanged(visit, version)).toBeNull();
    expect(unchanged()).not.toBeNull();
  });

  it('is forgotten with a notification', () => {
    remember();
    watch.isNotified = true;
    expect(unchanged()).toBeNull();
    expect(watch.isEnded).toBe(true);
    watch.isNotified = false;
    expect(unchanged()).toBeNull();
  });

  it('is not remembered when a change was notified since the state was read', () => {
    watch.isNotified = true;
    remember();
    watch.isNotified = false;
    expect(unchanged()).toBeNull();
  });

  it('is not known without notifications', () => {
    remember();
    watcher.isListening = false;
    expect(unchanged()).toBeNull();
  });

  it('is not remembered with a long list of rules', () => {
    remember(stateOf('1-a', ...Array.from({ length: 51 }, () => rule(null))));
    expect(unchanged()).toBeNull();
  });

  it.each([
    ['a rule', [rule(5)], null],
    ['its key', [], 5],
  ])('is forgotten at the end of %s', async (_, rules, keySecondsLeft) => {
    remember(stateOf('1-a', ...rules), keySecondsLeft);
    await jest.advanceTimersByTimeAsync(4900);
    expect(unchanged()).not.toBeNull();
    await jest.advanceTimersByTimeAsync(100);
    expect(unchanged()).toBeNull();
  });

  it('is proven after each request, with the time of the request', async () => {
    remember();
    await jest.advanceTimersByTimeAsync(1500);
    unchanged();
    await jest.advanceTimersByTimeAsync(500);
    expect(asked).toEqual([
      [
        {
          agentId: 'agent',
          organizationId: ORGANIZATION,
          targetKey: VISIT.targetKey,
          keyId: 'key',
          instance: 'machine',
          version: '1-a',
          heardAgoMs: 500,
        },
      ],
    ]);
    await jest.advanceTimersByTimeAsync(10_000);
    expect(asked).toHaveLength(1);
    unchanged();
    await jest.advanceTimersByTimeAsync(2000);
    expect(asked).toHaveLength(2);
  });

  it('is forgotten when the database proves it no longer, and its waiting requests are woken', async () => {
    remember();
    unchanged();
    answers = () => Promise.resolve(new Map<string, ProvenPoll>());
    await jest.advanceTimersByTimeAsync(2000);
    expect(watcher.told).toEqual([VISIT.targetKey]);
    expect(unchanged()).toBeNull();
  });

  it('is forgotten when no proof succeeds for 45 seconds, and known until then', async () => {
    remember();
    unchanged();
    answers = () => Promise.reject(new Error('The database is down'));
    await jest.advanceTimersByTimeAsync(44_900);
    expect(unchanged()).not.toBeNull();
    expect(asked.length).toBeGreaterThan(20);
    await jest.advanceTimersByTimeAsync(100);
    expect(unchanged()).toBeNull();
  });

  it('is forgotten after 45 seconds without a request', async () => {
    remember();
    await jest.advanceTimersByTimeAsync(46_000);
    expect(watch.isEnded).toBe(true);
    expect(asked).toEqual([]);
  });

  it('that was replaced during a proof keeps its newer state', async () => {
    remember();
    unchanged();
    answers = async (polled) => {
      remember(stateOf('2-b'));
      return proves(stateOf('1-a'))(polled);
    };
    await jest.advanceTimersByTimeAsync(2000);
    expect(unchanged({}, '2-b')?.version).toBe('2-b');
  });
});
