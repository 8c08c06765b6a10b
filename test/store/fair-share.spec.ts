import { setTimeout as pause } from 'node:timers/promises';
import { pino } from 'pino';
import { ConvergenceRunner, MACHINE_TIMING, type Convergence } from '#engine';
import { AgentWatchStore, EngineStore, LeaseStore, SweepStore } from '#engine-store';
import { LedgerRows } from '../builders/sessions/ledger';
import { ownDatabase } from '../harness/database/own-database';
import { until } from '../harness/until';

interface Made {
  readonly organization: string;
  readonly targets: readonly string[];
}

describe('Targets that wait for a slot', () => {
  const database = ownDatabase(2);
  const ledger = new LedgerRows(database);
  const { sweep: store } = new EngineStore();
  let busy: Made;
  let other: Made;

  /** An organization with targets that are not due, in the order they were made. */
  const organizationWith = async (count: number): Promise<Made> => {
    const owner = await ledger.organization();
    const targets: string[] = [];
    for (let made = 0; made < count; made += 1) {
      const target = await ledger.target();
      await ledger.resource(owner, target);
      targets.push(target);
    }
    await ledger.rows(
      `UPDATE targets SET accounted_to = $1, reconcile_due_at = now() + interval '1 hour' WHERE id = ANY ($2)`,
      [owner.organizationId, targets],
    );
    return { organization: owner.organizationId, targets };
  };

  /** @param dueInSeconds negative: so long ago */
  const rule = (
    targetId: string,
    dueInSeconds: number,
    { closing = false, attempts = 0 }: { closing?: boolean; attempts?: number } = {},
  ): Promise<unknown> =>
    database.autocommit.query(
      `INSERT INTO rules (target_id, key, address, protocol, ports, due_at, closing, attempts, accounted_to)
       SELECT id, gen_random_uuid()::text, '203.0.113.1/32', 'tcp', '22', now() + make_interval(secs => $2), $3, $4, accounted_to
       FROM targets WHERE id = $1`,
      [targetId, dueInSeconds, closing, attempts],
    );

  const waiting = async (perOrganization = 100, limit = 100): Promise<string[]> =>
    (await store.waitingTargets(database.autocommit, perOrganization, limit)).map(({ targetId }) => targetId);

  beforeEach(async () => {
    await database.autocommit.query('TRUNCATE targets, rules, resources, rule_holders CASCADE');
    busy = await organizationWith(30);
    other = await organizationWith(3);
  });

  it('returns the first target of every organization before the second of any, whatever they waited', async () => {
    for (const target of busy.targets) await rule(target, -3600, { closing: true });
    await rule(other.targets[0]!, -1);
    const found = await waiting(5);
    expect(found).toHaveLength(6);
    expect(found.indexOf(other.targets[0]!)).toBeLessThanOrEqual(1);
    expect(await waiting(5, 2)).toContain(other.targets[0]);
  });

  it('leaves out what is not due, what is in backoff, and what a worker has', async () => {
    await rule(busy.targets[0]!, 30, { attempts: 3 });
    await rule(busy.targets[1]!, -1);
    await rule(busy.targets[2]!, -1);
    await new LeaseStore().take(database.autocommit, busy.targets[2]!, 10, false);
    expect(await waiting()).toEqual([busy.targets[1]]);
    expect(await store.waitingTarget(database.autocommit, busy.targets[3]!)).toBeNull();
  });

  it('puts an organization’s closing before its opening, what was never tried before what failed', async () => {
    const [failed, opening, closing, longer] = busy.targets as [string, string, string, string];
    await rule(failed, -500, { attempts: 2 });
    await rule(opening, -400);
    await rule(longer, -300, { closing: true });
    await rule(closing, -200, { closing: true });
    expect(await waiting()).toEqual([longer, closing, opening, failed]);
  });

  it('returns the organizations that share the slots', async () => {
    const [target] = busy.targets as [string];
    await database.autocommit.query(
      `INSERT INTO resources (organization_id, name, credential_id, provider, resource_type, resource_identifier, target_id)
       SELECT organization_id, 'same object', id, 'AWS', 'SECURITY_GROUP', 'sg', $2 FROM credentials WHERE organization_id = $1`,
      [other.organization, target],
    );
    await rule(target, -1, { attempts: 1 });
    await rule(target, -1, { closing: true });
    const [found] = await store.waitingTargets(database.autocommit, 1, 1);
    expect(found).toEqual({
      targetId: target,
      provider: 'AWS',
      organizations: [busy.organization, other.organization].sort(),
      closing: true,
      deferrable: false,
    });
    expect(await store.waitingTarget(database.autocommit, target)).toEqual(found);
  });

  it('has what is only to be compared at the end, as what may wait', async () => {
    const [compared, opening] = busy.targets as [string, string];
    await database.autocommit.query(
      `UPDATE targets SET reconcile_due_at = now() - interval '1 day' WHERE id = $1`,
      [compared],
    );
    await rule(opening, -1);
    expect(await waiting()).toEqual([opening, compared]);
    expect(await store.waitingTarget(database.autocommit, compared)).toMatchObject({ deferrable: true });
  });

  describe('in a worker', () => {
    const CAPACITY = 3;
    const SLOTS = { capacity: CAPACITY, timing: MACHINE_TIMING };
    /** A call of a cloud: slots are in use meanwhile. */
    const CALL_MS = 30;

    class CountedStore extends SweepStore {
      fills = 0;
      asked = 0;

      override waitingTargets(
        ...given: Parameters<SweepStore['waitingTargets']>
      ): ReturnType<SweepStore['waitingTargets']> {
        this.fills += 1;
        return super.waitingTargets(...given);
      }

      override async waitingTarget(
        ...given: Parameters<SweepStore['waitingTarget']>
      ): ReturnType<SweepStore['waitingTarget']> {
        const found = await super.waitingTarget(...given);
        this.asked += 1;
        return found;
      }
    }

    /**
     * A worker that converges as the engine does, as far as others see it: a lease, then nothing is due.
     * @param released what its calls wait for
     */
    const worker = (
      released: Promise<unknown> = Promise.resolve(),
    ): { runner: ConvergenceRunner; counted: CountedStore; done: string[] } => {
      const leases = new LeaseStore();
      const counted = new CountedStore(new AgentWatchStore());
      const done: string[] = [];
      const convergence: Convergence = {
        converge: async ({ targetId }) => {
          const lease = await leases.take(database.autocommit, targetId, 10, false);
          if (!lease) return;
          done.push(targetId);
          await released;
          await pause(CALL_MS);
          await database.autocommit.query('UPDATE rules SET due_at = NULL WHERE target_id = $1', [targetId]);
          await leases.release(database.autocommit, lease);
        },
        handOver: () => Promise.resolve(),
      };
      const log = pino({ enabled: false });
      const runner = new ConvergenceRunner(database, counted, convergence, SLOTS, log);
      return { runner, counted, done };
    };

    it('with all slots in use are followed by the rest, though another worker sweeps', async () => {
      for (const target of busy.targets) await rule(target, -1);
      let release: () => void = () => undefined;
      const released = new Promise<void>((resolve) => {
        release = resolve;
      });
      const [one, two] = [worker(released), worker(released)];
      const woken = CAPACITY + 1;
      const turns = [one, two].flatMap(({ runner }, index) =>
        busy.targets.slice(index * woken, (index + 1) * woken).map((target) => runner.wake(target)),
      );
      await until('one target more than slots was woken in each', async () =>
        [one, two].every(({ counted }) => counted.asked === woken),
      );
      release();
      await Promise.all(turns);
      await until('nothing waits', async () => (await waiting()).length === 0);
      // what is leased does not wait, and may not be noted yet
      await Promise.all([one, two].map(({ runner }) => runner.stop(1000)));
      expect(new Set([...one.done, ...two.done])).toEqual(new Set(busy.targets));
      expect(Math.min(one.done.length, two.done.length)).toBeGreaterThan(CAPACITY);
    });

    it('in a backlog are followed by the rest, though each target has several rules due', async () => {
      for (const target of busy.targets) for (const seconds of [-1, -1, -1]) await rule(target, seconds);
      await database.autocommit.query(`UPDATE rules SET due_at = now() - interval '1 second'`);
      const { runner, done } = worker();
      await runner.fill();
      await until('nothing waits', async () => (await waiting()).length === 0);
      await runner.stop(1000);
      expect(new Set(done)).toEqual(new Set(busy.targets));
    });

    it('with free slots are followed by no question', async () => {
      await rule(busy.targets[0]!, -1);
      const { runner, counted, done } = worker();
      await runner.wake(busy.targets[0]!);
      expect(done).toEqual([busy.targets[0]]);
      await runner.stop(1000);
      expect(counted.fills).toBe(0);
    });
  });
});
