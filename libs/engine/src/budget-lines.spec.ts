import { BudgetLines } from './budget-lines';
import type { Timing } from './timing';

const CALL_MS = 200;
const MAX_WAIT_MS = 2000;

/** A clock that runs as fast as everything that waits for it allows. */
class FastClock implements Timing {
  private time = 0;
  private readonly timers: { at: number; run: () => void }[] = [];

  now(): number {
    return this.time;
  }

  wait(ms: number): Promise<void> {
    return new Promise((run) => this.timers.push({ at: this.time + ms, run }));
  }

  every(): () => void {
    throw new Error('Not used here');
  }

  random(): number {
    return 0.5;
  }

  /** Runs timers until the work is done. */
  async finish<T>(work: Promise<T>): Promise<T> {
    const state = { isDone: false };
    void work.finally(() => (state.isDone = true));
    while (!state.isDone) {
      for (let turn = 0; turn < 50; turn += 1) await Promise.resolve();
      this.timers.sort((one, other) => one.at - other.at);
      const next = this.timers.shift();
      if (next) this.time = Math.max(this.time, next.at);
      next?.run();
    }
    return work;
  }
}

describe('BudgetLines', () => {
  let clock: FastClock;
  let lines: BudgetLines;
  let tokens: number;
  let refilledAt: number;
  let asked: number;

  beforeEach(() => {
    clock = new FastClock();
    lines = new BudgetLines(clock);
    [tokens, refilledAt, asked] = [0, 0, 0];
  });

  const ask = (): Promise<number> => {
    asked += 1;
    tokens += Math.floor((clock.now() - refilledAt) / CALL_MS);
    refilledAt = clock.now() - ((clock.now() - refilledAt) % CALL_MS);
    if (tokens === 0) return Promise.resolve(CALL_MS);
    tokens -= 1;
    return Promise.resolve(0);
  };

  const take = (line = 'additions'): Promise<number> =>
    lines.take({ line, refillMs: CALL_MS, maxWaitMs: MAX_WAIT_MS, ask });

  it('asks once while there is enough', async () => {
    tokens = 3;
    expect(await Promise.all([take(), take(), take()])).toEqual([0, 0, 0]);
    expect(asked).toBe(3);
  });

  it('lets as many wait as the account refills meanwhile, and asks about twice for each', async () => {
    await clock.finish(take());
    asked = 0;
    const waits = await clock.finish(Promise.all(Array.from({ length: 40 }, () => take())));
    expect(waits.filter((ms) => ms === 0).length).toBeGreaterThanOrEqual(8);
    // each of the 40 is in line at once or finds it empty and asks first
    expect(asked).toBeLessThanOrEqual(40 + 2 * 10);
  });

  it('sends the others away, each with a turn of its own', async () => {
    const waits = await clock.finish(Promise.all(Array.from({ length: 40 }, () => take())));
    const turns = waits.filter((ms) => ms > 0);
    expect(new Set(turns).size).toBe(turns.length);
    expect(Math.max(...turns)).toBeGreaterThan(MAX_WAIT_MS);
  });

  it('serves a backlog at the rate of the account, also beyond the longest turn', async () => {
    const passes = 300;
    const served = async (): Promise<void> => {
      // a pass is found a little after its turn
      for (let waitMs = await take(); waitMs > 0; waitMs = await take()) await clock.wait(waitMs + 1000);
    };
    await clock.finish(Promise.all(Array.from({ length: passes }, served)));
    expect(clock.now()).toBeLessThan(1.1 * passes * CALL_MS);
    expect(asked).toBeLessThan(4 * passes);
  });

  it('does not let removals wait behind additions', async () => {
    const additions = Promise.all(Array.from({ length: 10 }, () => take()));
    tokens = 1;
    expect(await take('removals')).toBe(0);
    await clock.finish(additions);
  });

  it('goes on after a request that failed', async () => {
    await clock.finish(take());
    const failing = { line: 'additions', refillMs: CALL_MS, maxWaitMs: MAX_WAIT_MS };
    const failed = lines.take({ ...failing, ask: () => Promise.reject(new Error('the lease is lost')) });
    const next = take();
    await expect(failed).rejects.toThrow('the lease is lost');
    expect(await clock.finish(next)).toBe(0);
  });
});
