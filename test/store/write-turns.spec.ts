import type { CloudTarget, ProviderDriver } from '#drivers';
import { MACHINE_TIMING, WriteTurns } from '#engine';
import { EngineStore, WriteBudgetStore } from '#engine-store';
import { ownDatabase } from '../harness/database/own-database';

const TARGET = {} as CloudTarget;
const REMOVAL = [{ action: 'remove' }] as const;
const ADDITION = [{ action: 'add' }] as const;

describe('A turn for the write calls of an account', () => {
  const database = ownDatabase(12);
  let accounts = 0;
  const store = new WriteBudgetStore();

  beforeEach(() => {
    accounts += 1;
  });

  type Budgeted = Pick<ProviderDriver, 'traits' | 'accountKey'>;
  const driver = (burst: number, refillPerSecond: number): Budgeted => ({
    traits: {
      batchSize: 10,
      writeBudget: { burst, refillPerSecond },
      writeSpacing: { usualMs: 0, burstMs: 0, burstSize: 1 },
      callTimeoutMs: 5000,
    },
    accountKey: () => `account ${accounts}`,
  });
  const worker = (): WriteTurns => new WriteTurns(database, store, MACHINE_TIMING);
  const isNow = async (cloud: Budgeted, changes: readonly { readonly action: 'add' | 'remove' }[]) =>
    (await worker().take(cloud, TARGET, changes)).isNow;
  const times = <Done>(count: number, take: () => Promise<Done>): Promise<Done[]> =>
    Promise.all(Array.from({ length: count }, take));

  it('is now while the bucket has calls, and then in order, as it refills', async () => {
    // so slow that the time which ten statements take is nothing
    const secondsForOne = 2000;
    const budget = { burst: 3, refillPerSecond: 1 / secondsForOne };
    const take = () => store.take(database.autocommit, `account ${accounts}`, budget, 1, 6_500_000);
    const turns = (await times(10, take)).flatMap((turn) => turn ?? []);
    const waits = turns.map(({ waitMs }) => Math.round(waitMs / 1_000_000));
    // 3 at once, 3 within 6,500 s, the others not at all
    expect(waits.toSorted((one, other) => one - other)).toEqual([0, 0, 0, 2, 4, 6]);
    expect(await take()).toBeNull();
  });

  it('is one call for a batch of each kind', async () => {
    const aws = driver(2, 0.001);
    expect(await isNow(aws, [...REMOVAL, ...REMOVAL, ...ADDITION, ...ADDITION])).toBe(true);
    expect(await isNow(aws, REMOVAL)).toBe(false);
  });

  it('says whether the account is short of writes: less than half of its burst is left', async () => {
    const aws = driver(4, 0.001);
    const turns = [1, 2, 3].map(() => () => worker().take(aws, TARGET, REMOVAL));
    const short: unknown[] = [];
    for (const take of turns) short.push(await take());
    expect(short).toEqual([false, false, true].map((isShort) => ({ isNow: true, isShort })));
  });

  it('of a removal is not behind those of additions', async () => {
    const aws = driver(20, 1);
    const additions = times(40, () => worker().take(aws, TARGET, ADDITION));
    await MACHINE_TIMING.wait(300);
    expect(await isNow(aws, REMOVAL)).toBe(true);
    // four fifths at once, and a tenth waits for its turns; another tenth is left to removals
    const added = (await additions).filter((turn) => turn.isNow).length;
    expect(added).toBeGreaterThanOrEqual(18);
    expect(added).toBeLessThan(40);
  });

  it.each([
    ['additions', ADDITION, 8],
    ['removals', REMOVAL, 10],
  ])('is one after the other for %s that come later', async (_kind, change, atOnce) => {
    const [rate, waiting] = [0.2, 5];
    const aws = driver(10, rate);
    const turns = await times(atOnce + waiting, () => worker().take(aws, TARGET, change));
    const waits = turns.flatMap((turn) => (turn.isNow ? [] : [Math.round((turn.againInMs / 1000) * rate)]));
    expect(waits.toSorted((one, other) => one - other)).toEqual([1, 2, 3, 4, 5]);
  });

  it('is never earlier than the account allows, whoever asks', async () => {
    const [burst, rate, passes] = [10, 40, 240];
    const cloud = driver(burst, rate);
    const workers = [worker(), worker()];
    const sentAt: number[] = [];
    const now = async (): Promise<number> => {
      const [row] = await database.autocommit.query<{ ms: number }[]>(
        'SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS ms',
      );
      return row!.ms;
    };
    const began = await now();
    const pass = async (turns: WriteTurns): Promise<void> => {
      while (!(await turns.take(cloud, TARGET, REMOVAL)).isNow) await MACHINE_TIMING.wait(200);
      sentAt.push((await now()) - began);
    };
    await Promise.all(Array.from({ length: passes }, (_, index) => pass(workers[index % 2]!)));
    // the time when each turn was used, by the clock that grants it
    for (const [index, at] of sentAt.toSorted((one, other) => one - other).entries())
      expect(at).toBeGreaterThan((1000 * (index + 1 - burst)) / rate - 100);
  });

  it('is later after the provider refused calls as too many', async () => {
    const aws = driver(5, 1);
    expect(await isNow(aws, REMOVAL)).toBe(true);
    await worker().noteRefusal(aws, TARGET, 20_000);
    expect(await times(3, () => isNow(aws, REMOVAL))).toEqual([false, false, false]);
  });

  it('is not an hour later after the database clock was set back by one', async () => {
    const aws = driver(5, 1);
    expect(await isNow(aws, REMOVAL)).toBe(true);
    await database.autocommit.query(`UPDATE write_budgets SET full_at = now() + interval '1 hour'`);
    expect(await isNow(aws, REMOVAL)).toBe(false);
    await new EngineStore().sweep.bringForward(database.autocommit);
    expect(await isNow(aws, REMOVAL)).toBe(true);
  });
});
