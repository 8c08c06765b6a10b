import { readFresh, SLOW_READ_MS, type TimedRead } from './timed-read';

describe('The read before changes', () => {
  const reads = (...durations: readonly number[]): (() => Promise<TimedRead>) => {
    const left = durations.map((endedAt) => ({ rules: [], startedAt: 0, endedAt }));
    return () => Promise.resolve(left.shift()!);
  };

  it('is repeated when it took so long that the process may have been paused after the answer', async () => {
    expect((await readFresh(reads(SLOW_READ_MS + 1, 100))).endedAt).toBe(100);
  });

  it('is repeated once only: a provider may be slow', async () => {
    expect((await readFresh(reads(9000, 8000, 100))).endedAt).toBe(8000);
  });

  it('is not repeated when it took its usual time', async () => {
    expect((await readFresh(reads(SLOW_READ_MS, 100))).endedAt).toBe(SLOW_READ_MS);
  });
});
