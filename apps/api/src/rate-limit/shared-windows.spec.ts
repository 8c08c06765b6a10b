import { Logger } from '@nestjs/common';
import { FixedWindows } from './fixed-windows';
import { SharedWindows, type SharedCounter } from './shared-windows';

/** A Redis that can be lost. What it really does is tried in test/e2e. */
class LosableCounter implements SharedCounter {
  lost = false;
  asked = 0;
  private hits = 0;

  async count(_key: string, ttlMs: number): Promise<readonly [number, number]> {
    this.answer();
    this.hits += 1;
    return [this.hits, ttlMs - 500];
  }

  async giveBack(): Promise<void> {
    this.answer();
    this.hits -= 1;
  }

  close(): void {
    this.lost = true;
  }

  private answer(): void {
    this.asked += 1;
    if (this.lost) throw new Error('Connection is closed.');
  }
}

describe('SharedWindows', () => {
  let now: number;
  let counter: LosableCounter;
  let windows: SharedWindows;
  const logged: unknown[] = [];

  beforeEach(() => {
    logged.length = 0;
    jest.spyOn(Logger.prototype, 'warn').mockImplementation((line: unknown) => logged.push(line));
    now = 0;
    counter = new LosableCounter();
    windows = new SharedWindows(counter, new FixedWindows(() => now), () => now);
  });
  afterEach(() => jest.restoreAllMocks());

  const count = async (): Promise<number> => (await windows.increment('a', 60_000, 2)).totalHits;

  it('count in Redis, and refuse there', async () => {
    await expect(windows.increment('a', 60_000, 2)).resolves.toEqual({
      totalHits: 1,
      timeToExpire: 60,
      isBlocked: false,
      timeToBlockExpire: 0,
    });
    await count();
    await expect(windows.increment('a', 60_000, 2)).resolves.toMatchObject({
      isBlocked: true,
      timeToBlockExpire: 60,
    });
    await windows.giveBack('a');
    await expect(count()).resolves.toBe(3);
    expect(logged).toEqual([]);
  });

  it('count here while it is away, saying so once, and ask it again after a second', async () => {
    await count();
    counter.lost = true;
    await expect(count()).resolves.toBe(1);
    await expect(count()).resolves.toBe(2);
    await windows.giveBack('a');
    await expect(count()).resolves.toBe(2);
    expect(counter.asked).toBe(2);
    now = 1000;
    await expect(count()).resolves.toBe(3);
    expect(counter.asked).toBe(3);
    expect(logged).toEqual([expect.stringContaining('Redis is out of reach (Connection is closed.)')]);
    now = 2000;
    counter.lost = false;
    await expect(count()).resolves.toBe(2);
    expect(logged).toHaveLength(2);
    expect(logged[1]).toMatch(/is back/);
  });

  it('let go of Redis with the process', () => {
    windows.onApplicationShutdown();
    expect(counter.lost).toBe(true);
  });
});
