import { Logger } from '@nestjs/common';
import { FixedWindows } from './fixed-windows';
import { SharedWindows, type SharedCounter } from './shared-windows';

/** A fake Redis that can become unavailable. test/e2e covers the real one. */
class UnreliableCounter implements SharedCounter {
  isDown = false;
  calls = 0;
  private hits = 0;

  async count(_key: string, ttlMs: number): Promise<readonly [number, number]> {
    this.call();
    this.hits += 1;
    return [this.hits, ttlMs];
  }

  async decrement(): Promise<void> {
    this.call();
    this.hits -= 1;
  }

  close(): void {}

  private call(): void {
    this.calls += 1;
    if (this.isDown) throw new Error('Connection is closed.');
  }
}

afterEach(() => vi.restoreAllMocks());

it('While Redis is down a process counts for itself, logs each transition once, and retries Redis after a second', async () => {
  const logged: unknown[] = [];
  vi.spyOn(Logger.prototype, 'warn').mockImplementation((line: unknown) => logged.push(line));
  let now = 0;
  const counter = new UnreliableCounter();
  const windows = new SharedWindows(counter, new FixedWindows(() => now), () => now);
  const count = async (): Promise<number> => (await windows.increment('a', 60_000, 2)).totalHits;
  await count();
  counter.isDown = true;
  await expect(count()).resolves.toBe(1);
  await expect(count()).resolves.toBe(2);
  await windows.decrement('a');
  await expect(count()).resolves.toBe(2);
  expect(counter.calls).toBe(2);
  now = 1000;
  await expect(count()).resolves.toBe(3);
  expect(counter.calls).toBe(3);
  expect(logged).toEqual([expect.stringContaining('Redis is out of reach (Connection is closed.)')]);
  now = 2000;
  counter.isDown = false;
  await expect(count()).resolves.toBe(2);
  expect(logged).toHaveLength(2);
  expect(logged[1]).toMatch(/is back/);
});
