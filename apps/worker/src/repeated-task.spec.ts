import { pino } from 'pino';
import { RepeatedTask } from './repeated-task';

const A_LONG_TIME_MS = 3_600_000;

describe('Work done again and again', () => {
  const runsOf = async (tells: number): Promise<{ runs: number; tookMs: number }> => {
    let runs = 0;
    const began = performance.now();
    const tookMs = await new Promise<number>((resolve) => {
      const task = new RepeatedTask(
        'count',
        A_LONG_TIME_MS,
        async () => {
          runs += 1;
          if (runs < 3) return tells;
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

  it('comes sooner when a run asks for it', async () => {
    expect((await runsOf(250)).runs).toBe(3);
  });

  it('keeps a distance, however soon it is asked for', async () => {
    const { runs, tookMs } = await runsOf(0);
    expect(runs).toBe(3);
    expect(tookMs).toBeGreaterThan(390);
  });
});
