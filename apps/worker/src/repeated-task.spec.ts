import { setTimeout as pause } from 'node:timers/promises';
import { pino } from 'pino';
import { RepeatedTask } from './repeated-task';

const A_LONG_TIME_MS = 3_600_000;

describe('RepeatedTask', () => {
  const runsOf = (nextRunInMs: number): Promise<number> =>
    new Promise((resolve) => {
      let runs = 0;
      const task = new RepeatedTask(
        'count',
        A_LONG_TIME_MS,
        async () => {
          runs += 1;
          if (runs < 3) return nextRunInMs;
          void task.stop();
          resolve(runs);
          return null;
        },
        pino({ enabled: false }),
      );
      task.start();
    });

  it('runs earlier than the interval when the previous run requests it', async () => {
    expect(await runsOf(250)).toBe(3);
  });

  it('keeps the minimum delay when a run requests the next one immediately', async () => {
    const twice = pause(390, 'not yet');
    expect(await Promise.race([runsOf(0), twice])).toBe('not yet');
  });

  it.each([
    ['fails', () => Promise.reject(new Error('down'))],
    ['never ends', () => new Promise<null>(() => undefined)],
  ])('acts when every run %s', async (_, work) => {
    const task = new RepeatedTask('fail', 100, work, pino({ enabled: false }));
    task.start();
    const acted = new Promise<void>((act) => task.onFailingFor(2000, act));
    await expect(acted).resolves.toBeUndefined();
  });

  it('says in seconds how late it is', () => {
    const work = (): Promise<void> => Promise.resolve();
    const late = new RepeatedTask('late', 0, work, pino({ enabled: false }));
    const seconds = late.overdueSeconds;
    expect(seconds).toBeGreaterThan(0);
    expect(seconds * 1000).toBeLessThanOrEqual(late.sinceLastSuccessMs);
    expect(new RepeatedTask('soon', A_LONG_TIME_MS, work, pino({ enabled: false })).overdueSeconds).toBe(0);
  });

  it('does not act while runs succeed', async () => {
    let runs = 0;
    let acted = 0;
    let hasRunForLonger = (): void => undefined;
    const ranForLonger = new Promise<void>((resolve) => (hasRunForLonger = resolve));
    const work = async (): Promise<void> => {
      runs += 1;
      if (runs > 10) hasRunForLonger();
    };
    const task = new RepeatedTask('work', 300, work, pino({ enabled: false }));
    task.start();
    task.onFailingFor(2000, () => (acted += 1));
    await ranForLonger;
    await task.stop();
    expect(acted).toBe(0);
  });
});
