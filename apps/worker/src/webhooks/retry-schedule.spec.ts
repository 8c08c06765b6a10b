import { retryInMs } from './retry-schedule';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

describe('retryInMs', () => {
  it('waits longer after each attempt, for five days', () => {
    const waits = Array.from({ length: 12 }, (_, index) => retryInMs(index + 1, 0, null)!);
    const first = [5000, MINUTE, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 24 * HOUR];
    expect(waits.slice(0, 8)).toEqual(first);
    expect(retryInMs(13, 0, null)).toBeNull();
    const all = waits.reduce((sum, wait) => sum + wait);
    // a receiver that fails at every attempt has failed for long enough at the last one
    expect(all).toBeGreaterThan(120 * HOUR);
    expect(all).toBeLessThan(122 * HOUR);
  });

  it('spreads attempts by a fifth', () => {
    expect([0, 0.5, 0.999].map((random) => retryInMs(2, random, null))).toEqual([60_000, 66_000, 71_988]);
  });

  it('waits for as long as the receiver asks, an hour at most', () => {
    expect(retryInMs(1, 0, 30_000)).toBe(30_000);
    expect(retryInMs(1, 0, 1)).toBe(5000);
    expect(retryInMs(1, 0, 24 * HOUR)).toBe(HOUR);
    expect(retryInMs(13, 0, 30_000)).toBeNull();
  });
});
