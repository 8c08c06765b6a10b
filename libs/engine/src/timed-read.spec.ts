import { readFresh, SLOW_READ_MS } from './timed-read';

describe('The read before changes', () => {
  /** When a read ends that began at 0 and was repeated as often as there are durations for. */
  const endOf = async (...durations: readonly number[]): Promise<number> => {
    let now = 0;
    const left = [...durations];
    const read = (): Promise<[]> => {
      now += left.shift()!;
      return Promise.resolve([]);
    };
    const { startedAt, endedAt } = await readFresh({ now: () => now }, read);
    return endedAt - startedAt;
  };

  it('is repeated when it took so long that the process may have been paused after the answer', async () => {
    expect(await endOf(SLOW_READ_MS + 1, 100)).toBe(100);
  });

  it('is repeated once only: a provider may be slow', async () => {
    expect(await endOf(9000, 8000, 100)).toBe(8000);
  });

  it('is not repeated when it took its usual time', async () => {
    expect(await endOf(SLOW_READ_MS, 100)).toBe(SLOW_READ_MS);
  });
});
