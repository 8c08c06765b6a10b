import { RestartPolicy } from './restart-policy';

describe('RestartPolicy', () => {
  let now = 0;
  let policy: RestartPolicy;

  /** Lives for some milliseconds, dies, and is started again when the policy says so. */
  const live = (milliseconds: number): number => {
    policy.started();
    now += milliseconds;
    const waitMs = policy.died();
    now += waitMs;
    return waitMs;
  };

  beforeEach(() => {
    now = 1000;
    policy = new RestartPolicy(() => now);
  });

  it('waits twice as long after each death, 5 s at most', () => {
    expect([1, 2, 3, 4, 5, 6, 7].map(() => live(100))).toEqual([200, 400, 800, 1600, 3200, 5000, 5000]);
  });

  it('begins anew after a life of 30 s', () => {
    live(100);
    live(100);
    expect(live(30_000)).toBe(200);
  });

  it('is hopeless after five deaths within 30 s', () => {
    for (const count of [1, 2, 3, 4]) {
      live(100);
      expect([count, policy.isHopeless]).toEqual([count, false]);
    }
    live(100);
    expect(policy.isHopeless).toBe(true);
  });

  it('forgets deaths that are long past', () => {
    for (let count = 0; count < 12; count += 1) live(10_000);
    expect(policy.isHopeless).toBe(false);
  });
});
