import { pino } from 'pino';
import { until } from '../../../test/harness/until';
import { RepeatedTask } from './repeated-task';

const A_LONG_TIME_MS = 3_600_000;

describe('RepeatedTask', () => {
  const runsOf = async (nextRunInMs: number): Promise<{ runs: number; tookMs: number }> => {
    let runs = 0;
    const began = performance.now();
    const tookMs = await new Promise<number>((resolve) => {
      const task = new RepeatedTask(
        'count',
        A_LONG_TIME_MS,
        async () => {
          runs += 1;
          if (runs < 3) return nextRunInMs;
          void task.stop();
          resolve(performance.now() - began);
          return null;
        },
        pino({ enabled: false }),
      );
      task.start();
    });
    return { runs, tookMs };
  };

  it('runs earlier than the interval when the previous run requests it', async () => {
    expect((await runsOf(250)).runs).toBe(3);
  });

  it('keeps the minimum delay when a run requests the next one immediately', async () => {
    const { runs, tookMs } = await runsOf(0);
    expect(runs).toBe(3);
    expect(tookMs).toBeGreaterThan(390);
  });

  it.each([
    ['fails', () => Promise.reject(new Error('down'))],
    ['never ends', () => new Promise<null>(() => undefined)],
  ])('acts when every run %s', async (_, work) => {
    const task = new RepeatedTask('fail', 100, work, pino({ enabled: false }));
    task.start();
    await new Promise<void>((act) => task.onFailingFor(2000, act));
  });

  it('does not act while runs succeed', async () => {
    let runs = 0;
    let acted = 0;
    const task = new RepeatedTask('work', 300, async () => void (runs += 1), pino({ enabled: false }));
    task.start();
    task.onFailingFor(2000, () => (acted += 1));
    await until('it ran for longer', () => Promise.resolve(runs > 10));
    await task.stop();
    expect(acted).toBe(0);
  });
});
