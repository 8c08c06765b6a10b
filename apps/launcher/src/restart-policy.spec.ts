import { RestartPolicy } from './restart-policy';

describe('RestartPolicy', () => {
  let now = 0;
  let policy: RestartPolicy;

  /** Simulates a run of some milliseconds, an exit, and the wait before the restart. @returns the wait */
  const run = (milliseconds: number): number => {
    policy.started();
    now += milliseconds;
    const waitMs = policy.exited();
    now += waitMs;
    return waitMs;
  };

  beforeEach(() => {
    now = 1000;
    policy = new RestartPolicy(() => now);
  });

  it('doubles the delay after each exit, up to 5 s', () => {
    expect([1, 2, 3, 4, 5, 6, 7].map(() => run(100))).toEqual([200, 400, 800, 1600, 3200, 5000, 5000]);
  });

  it('resets the delay after a run of 30 s', () => {
    run(100);
    run(100);
    expect(run(30_000)).toBe(200);
  });

  it('is exhausted after five exits within 30 s', () => {
    for (const count of [1, 2, 3, 4]) {
      run(100);
      expect([count, policy.isExhausted]).toEqual([count, false]);
    }
    run(100);
    expect(policy.isExhausted).toBe(true);
  });

  it('ignores exits before the last 30 s', () => {
    for (let count = 0; count < 12; count += 1) run(10_000);
    expect(policy.isExhausted).toBe(false);
  });
});
