import { pino } from 'pino';
import { Sweeper, type ConvergenceRunner } from '#engine';
import { BacklogStore, EngineStore, SweeperLeaseStore, SweepStore, type SweeperLease } from '#engine-store';
import type { Tx } from '#entities';
import { LedgerRows } from '../builders/sessions/ledger';
import { ownDatabase } from '../harness/database/own-database';
import { until } from '../harness/until';

const NEVER = new AbortController().signal;

/** Counts how often it is asked for. */
class CountedLease extends SweeperLeaseStore {
  asked = 0;

  override find(tx: Tx, workerId: string): Promise<SweeperLease & { readonly now: number }> {
    this.asked += 1;
    return super.find(tx, workerId);
  }
}

describe('The sweeping worker', () => {
  const database = ownDatabase(4);

  /**
   * @param fill what the worker does with what waits
   * @param dispatch what the other workers are told
   */
  const worker = (
    name: string,
    {
      fill = () => Promise.resolve([]),
      dispatch = () => undefined,
      now = () => performance.now(),
    }: { fill?: () => Promise<[]>; dispatch?: () => void; now?: () => number } = {},
  ): { sweeper: Sweeper; lease: CountedLease } => {
    const lease = new CountedLease();
    const runner = { fill };
    const { sweep, rules } = new EngineStore();
    const sweeper = new Sweeper(
      database,
      { sweep, rules, sweeperLease: lease },
      runner as unknown as ConvergenceRunner,
      dispatch,
      name,
      now,
      pino({ enabled: false }),
    );
    return { sweeper, lease };
  };

  it('is replaced at the end of its lease; until then the other one does not ask', async () => {
    const [first, second] = [worker('first'), worker('second')];
    await first.sweeper.sweep(NEVER);
    const waitMs = await second.sweeper.sweep(NEVER);
    expect([first.sweeper.isSweeping, second.sweeper.isSweeping]).toEqual([true, false]);
    expect(waitMs).toBeLessThanOrEqual(4000);
    await until('the second one sweeps', async () => {
      await second.sweeper.sweep(NEVER);
      return second.sweeper.isSweeping;
    });
    // at first, when that wait is over, and perhaps a moment before the database's clock says so
    expect(second.lease.asked).toBeLessThanOrEqual(3);
  });

  it('is one, of several that ask at once', async () => {
    await database.autocommit.query('DELETE FROM sweeper_lease');
    const several = ['a', 'b', 'c', 'd'].map((name) => worker(name).sweeper);
    await Promise.all(several.map((one) => one.sweep(NEVER)));
    expect(several.filter(({ isSweeping }) => isSweeping)).toHaveLength(1);
    await database.autocommit.query(`UPDATE sweeper_lease SET worker_id = 'second', lease_until = now()`);
  });

  it('stays what it is while it asks: whatever one worker does for all goes on', async () => {
    let time = 0;
    const { sweeper, lease } = worker('second', { now: () => time });
    await sweeper.sweep(NEVER);
    const found = vi.spyOn(lease, 'find').mockImplementation(() => new Promise(() => undefined));
    time = 2000;
    void sweeper.sweep(NEVER);
    expect([found.mock.calls.length, sweeper.isSweeping]).toEqual([1, true]);
  });

  it('hands over at the next question when it stops', async () => {
    const third = worker('third');
    const second = worker('second');
    await second.sweeper.sweep(NEVER);
    expect(second.sweeper.isSweeping).toBe(true);
    await second.sweeper.standDown();
    await third.sweeper.sweep(NEVER);
    expect([second.sweeper.isSweeping, third.sweeper.isSweeping]).toEqual([false, true]);
  });

  it('records successful sweeps only, when they ended; the record outlives the worker', async () => {
    let time = 0;
    const passes = (seconds: number): number => (time += seconds * 1000);
    const fourth = worker('fourth', { now: () => time });
    const age = async (): Promise<number | null> =>
      (await new BacklogStore().condition(database.autocommit)).secondsSinceSweep;
    /** The database's time passes, too. */
    const isAbout = async (seconds: number): Promise<void> => {
      expect(await age()).toBeGreaterThanOrEqual(seconds);
      expect(await age()).toBeLessThan(seconds + 25);
    };
    const sweeps = (): Promise<unknown> => fourth.sweeper.sweep(NEVER);
    await database.autocommit.query('DELETE FROM sweeper_lease');
    await sweeps();
    expect(await age()).toBeNull();
    passes(30);
    await sweeps();
    await isAbout(30);
    vi.spyOn(SweepStore.prototype, 'outlook').mockRejectedValueOnce(new Error('failed'));
    passes(2);
    await expect(sweeps()).rejects.toThrow('Not all of the sweep was done');
    // the successful one before
    await isAbout(2);
    await database.autocommit.query(`UPDATE sweeper_lease SET swept_at = now() - interval '40 seconds'`);
    passes(2);
    await sweeps();
    // the failed one is none
    await isAbout(40);
    await fourth.sweeper.standDown();
    await worker('fifth').sweeper.sweep(NEVER);
    await isAbout(40);
    await database.autocommit.query(`UPDATE sweeper_lease SET swept_at = now() + interval '1 hour'`);
    expect(await age()).toBeGreaterThan(3500);
  });

  it('ends all sessions of a backlog before it removes their rules: each target then needs one write', async () => {
    const { organizationId, userId } = await new LedgerRows(database).organization();
    await database.autocommit.query(
      `INSERT INTO sessions (organization_id, user_id, ipv4_address, status, expires_at)
       SELECT $1, $2, host('10.0.0.0'::inet + n), 'ACTIVE', now() - interval '1 minute' FROM generate_series(1, 2100) n`,
      [organizationId, userId],
    );
    const live = async (): Promise<number> => {
      const [row] = await database.autocommit.query<{ live: number }[]>(
        `SELECT count(*)::int AS live FROM sessions WHERE status = 'ACTIVE' AND expires_at <= now()`,
      );
      return row!.live;
    };
    const liveWhenWritten: Promise<number>[] = [];
    const { sweeper } = worker('many', {
      fill: async () => {
        liveWhenWritten.push(live());
        return [];
      },
      dispatch: () => liveWhenWritten.push(live()),
      // no time passes, however busy the machine is
      now: () => 0,
    });
    await sweeper.catchUp();
    expect(new Set(await Promise.all(liveWhenWritten))).toEqual(new Set([0]));
    const [row] = await database.autocommit.query<{ ended: number }[]>(
      `SELECT count(*)::int AS ended FROM sessions WHERE ended_reason = 'EXPIRED'`,
    );
    expect(row!.ended).toBe(2100);
  });
});
