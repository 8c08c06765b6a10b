import * as fc from 'fast-check';
import { APPLY_TIMEOUT_MS, backoffMs, RULE_BACKOFF } from './waits';

const LAST = 1 - Number.EPSILON / 2;
const random = fc.double({ min: 0, max: LAST, noNaN: true });
const policy = fc.record({
  baseMs: fc.integer({ min: 1, max: 10_000 }),
  capMs: fc.integer({ min: 1, max: 600_000 }),
});
const attempts = fc.oneof(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 1_000_000 }));

describe('backoffMs', () => {
  it.each([
    [1, 500],
    [2, 1_000],
    [6, 16_000],
    [7, 30_000],
    [Number.MAX_SAFE_INTEGER, 30_000],
  ])('after %d failed attempts is below %d ms, and half of that at random 0.5', (tries, ceiling) => {
    expect(backoffMs(RULE_BACKOFF, tries, 0)).toBe(0);
    expect(backoffMs(RULE_BACKOFF, tries, 0.5)).toBe(ceiling / 2);
    expect(backoffMs(RULE_BACKOFF, tries, LAST)).toBe(ceiling - 1);
  });

  it('is an integer below the cap and the exponential ceiling, and does not shrink with more attempts', () => {
    fc.assert(
      fc.property(policy, attempts, random, (one, tries, chance) => {
        const wait = backoffMs(one, tries, chance);
        expect(Number.isInteger(wait)).toBe(true);
        expect(wait).toBeGreaterThanOrEqual(0);
        expect(wait).toBeLessThanOrEqual(Math.min(one.capMs, one.baseMs * 2 ** (tries - 1)));
        expect(backoffMs(one, tries + 1, chance)).toBeGreaterThanOrEqual(wait);
      }),
    );
  });

  it('allows several attempts within APPLY_TIMEOUT_MS', () => {
    expect(APPLY_TIMEOUT_MS).toBeGreaterThanOrEqual(5 * RULE_BACKOFF.capMs);
  });
});
