import type { Traffic } from '#rules';
import { Log } from '../log';
import { desiredRule, hostState } from '../state/host-state.testing';
import type { HostState } from '../state/host-state';
import type { Connection } from './connections';
import { NOTHING_DECIDED, type GuardDecisions } from './guard-file';
import { CONFIRM_WITHIN_MS, GuardedPorts } from './guarded-ports';
import { NO_LIMITS, type Limits } from './limits';

const tcp = (...ports: number[]): Traffic => ({ protocol: 'tcp', ports });
const ANN: Connection = { address: '10.0.0.1', port: 22 };

/** A host whose guard file is in memory. */
class Host {
  onDisk: GuardDecisions | null = null;
  connections: Connection[] = [];
  now = 1_000_000;
  isFull = false;
  readonly lines: string[] = [];
  readonly ports: GuardedPorts;

  constructor(known: GuardDecisions | null = null, limits: Limits = NO_LIMITS) {
    this.onDisk = known;
    this.ports = new GuardedPorts(
      {
        file: {
          readCurrent: () => this.onDisk,
          write: (decisions) => {
            if (this.isFull) return Promise.reject(new Error('no space left'));
            this.onDisk = decisions;
            return Promise.resolve();
          },
        },
        limits,
        connections: () => this.connections,
        log: new Log((line) => this.lines.push(line)),
        now: () => this.now,
      },
      known,
    );
  }

  follow = (given: Partial<HostState>): Promise<void> =>
    this.ports.follow(hostState(given), given.rules ?? []);
  check = (): Promise<void> => this.ports.check(() => []);
}

describe('Guarded ports', () => {
  it('are guarded at once when that cuts nobody, and stay guarded when nobody names them', async () => {
    const host = new Host();
    await host.follow({ guarded: [tcp(22)] });
    await host.follow({});
    expect(host.ports.effective).toEqual([tcp(22)]);
    expect(host.onDisk).toMatchObject({ guarded: [tcp(22)] });
  });

  it('are not decided, and not written, before the server was heard', async () => {
    const host = new Host();
    await host.check();
    expect(host.onDisk).toBeNull();
  });

  it('wait while they would cut a connection, and are left alone after a minute', async () => {
    const host = new Host();
    host.connections = [ANN];
    await host.follow({ guarded: [tcp(22, 80)] });
    expect(host.ports.status).toMatchObject({ guarded: [tcp(80)], waiting: [tcp(22)], connections: [ANN] });
    host.now += CONFIRM_WITHIN_MS - 1;
    await host.check();
    expect(host.ports.status.waiting).toEqual([tcp(22)]);
    host.now += 1;
    await host.check();
    expect(host.ports.status).toMatchObject({ guarded: [tcp(80)], waiting: [], leftAlone: [tcp(22)] });
    // for good: an end of the connection closes nothing unattended
    host.connections = [];
    await host.follow({ guarded: [tcp(22, 80)] });
    expect(host.ports.status.leftAlone).toEqual([tcp(22)]);
    expect(host.lines.join('')).toMatch(/10\.0\.0\.1.*confirm tcp\/22[^]*Left alone, not guarded: tcp 22/);
  });

  it('are guarded as soon as the connection ends, or its address has access', async () => {
    const host = new Host();
    host.connections = [ANN];
    await host.follow({ guarded: [tcp(22)] });
    host.connections = [];
    await host.check();
    expect(host.ports.effective).toEqual([tcp(22)]);
    const other = new Host();
    other.connections = [ANN];
    await other.follow({ guarded: [tcp(22)], rules: [desiredRule('ann')] });
    expect(other.ports.effective).toEqual([tcp(22)]);
  });

  it.each(['waiting', 'leftAlone'] as const)(
    '%s, they are guarded when an operator confirms',
    async (state) => {
      const host = new Host();
      host.connections = [ANN];
      await host.follow({ guarded: [tcp(22)] });
      if (state === 'leftAlone') {
        host.now += CONFIRM_WITHIN_MS;
        await host.check();
      }
      expect(host.ports.status[state]).toEqual([tcp(22)]);
      host.onDisk = { ...NOTHING_DECIDED, guarded: [tcp(22)] };
      await host.check();
      expect(host.ports.status).toMatchObject({ guarded: [tcp(22)], waiting: [], leftAlone: [] });
    },
  );

  it('left alone before a restart stay so, whoever is connected', async () => {
    const host = new Host({ guarded: [tcp(80)], waiting: [], leftAlone: [tcp(22)] });
    await host.follow({ guarded: [tcp(22, 80)] });
    expect(host.ports.status).toMatchObject({ guarded: [tcp(80)], leftAlone: [tcp(22)] });
  });

  it('that were guarded before do not wait for the connections they cut', async () => {
    const host = new Host({ ...NOTHING_DECIDED, guarded: [tcp(22)] });
    host.connections = [ANN];
    await host.follow({ guarded: [{ protocol: 'tcp', ports: [] }] });
    expect(host.ports.status.waiting).toEqual([]);
  });

  it('are released by the server, unless a resource names them', async () => {
    const host = new Host({ ...NOTHING_DECIDED, guarded: [tcp(22, 80)] });
    await host.follow({ guarded: [tcp(80)], released: [tcp(22, 80)] });
    expect(host.ports.effective).toEqual([tcp(80)]);
    expect(host.onDisk).toMatchObject({ guarded: [tcp(80)] });
  });

  it('of a protocol that is released stay guarded where a resource names them, whoever is connected', async () => {
    const host = new Host({ ...NOTHING_DECIDED, guarded: [{ protocol: 'tcp', ports: [] }] });
    host.connections = [ANN];
    await host.follow({ guarded: [tcp(22)], released: [{ protocol: 'tcp', ports: [] }] });
    expect(host.ports.status).toMatchObject({ guarded: [tcp(22)], waiting: [], leftAlone: [] });
  });

  it('are not released by a file that could not be written', async () => {
    const host = new Host({ ...NOTHING_DECIDED, guarded: [tcp(80)] });
    host.isFull = true;
    await host.follow({ guarded: [tcp(22, 80)] });
    await host.follow({});
    await host.check();
    expect(host.ports.effective).toEqual([tcp(22, 80)]);
    host.isFull = false;
    await host.check();
    expect(host.onDisk).toMatchObject({ guarded: [tcp(22, 80)] });
  });

  it('of an installation without a file are released as soon as an operator writes one', async () => {
    const host = new Host({ ...NOTHING_DECIDED, guarded: [tcp(22)] });
    host.onDisk = null;
    await host.check();
    host.onDisk = NOTHING_DECIDED;
    await host.check();
    expect(host.ports.effective).toEqual([]);
  });

  it('beyond the limits of the host are not guarded any more, and asked for again without the limits', async () => {
    const known = { ...NOTHING_DECIDED, guarded: [tcp(22)] };
    const limited = new Host(known, { ...NO_LIMITS, only: [tcp(80)] });
    expect(limited.lines).toEqual(['Not guarded any more, by --never or --only: tcp 22\n']);
    await limited.follow({ guarded: [tcp(22, 80)] });
    expect(limited.ports.effective).toEqual([tcp(80)]);
    expect(limited.ports.status.refused).toMatchObject([tcp(22)]);

    const host = new Host(limited.onDisk);
    host.connections = [ANN];
    await host.follow({ guarded: [tcp(22, 80)] });
    expect(host.ports.effective).toEqual([tcp(80)]);
    expect(host.ports.status.waiting).toEqual([tcp(22)]);
  });

  it('beyond the limits of the host leave the guard file without an answer of the server', async () => {
    const host = new Host({ ...NOTHING_DECIDED, guarded: [tcp(22, 80)] }, { ...NO_LIMITS, never: [tcp(22)] });
    await host.check();
    expect(host.onDisk).toMatchObject({ guarded: [tcp(80)] });
  });
});
