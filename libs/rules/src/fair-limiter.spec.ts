import { FairLimiter, TooBusy } from './fair-limiter';

/** Tasks that run until they are ended, in the order in which they started. */
class Tasks {
  readonly started: string[] = [];
  private readonly ends = new Map<string, () => void>();

  constructor(private readonly limiter: FairLimiter) {}

  /** @param name its first letter is its group */
  add(name: string, disconnected?: AbortSignal): Promise<'done' | 'refused'> {
    const work = (): Promise<void> => {
      this.started.push(name);
      return new Promise((resolve) => this.ends.set(name, resolve));
    };
    return this.limiter.run(name[0]!, work, disconnected).then(
      () => 'done' as const,
      (error: unknown) => {
        if (error instanceof TooBusy) return 'refused' as const;
        throw error;
      },
    );
  }

  async endAll(): Promise<void> {
    for (let index = 0; index < this.started.length; index += 1) {
      this.ends.get(this.started[index]!)!();
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
}

describe('FairLimiter', () => {
  it('groups take turns, whatever the number of their tasks', async () => {
    const tasks = new Tasks(new FairLimiter(1, 10));
    const results = ['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1'].map((name) => tasks.add(name));
    await tasks.endAll();
    expect(tasks.started).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4']);
    expect(new Set(await Promise.all(results))).toEqual(new Set(['done']));
  });

  it('runs as many as it may at once, and continues after a failure', async () => {
    const limiter = new FairLimiter(2, 10);
    const tasks = new Tasks(limiter);
    const failed = limiter.run('a', () => Promise.reject(new Error('failed')));
    const results = ['a1', 'a2', 'a3'].map((name) => tasks.add(name));
    expect(tasks.started).toEqual(['a1']);
    await expect(failed).rejects.toThrow('failed');
    expect(tasks.started).toEqual(['a1', 'a2']);
    await tasks.endAll();
    expect(await Promise.all(results)).toEqual(['done', 'done', 'done']);
    expect(limiter.isIdle).toBe(true);
  });

  it('a task whose client disconnects stops waiting, and makes room', async () => {
    const limiter = new FairLimiter(1, 1);
    const tasks = new Tasks(limiter);
    const client = new AbortController();
    const results = [tasks.add('a1'), tasks.add('a2', client.signal), tasks.add('a3')];
    expect(await results[2]).toBe('refused');
    client.abort();
    expect(await results[1]).toBe('refused');
    expect(await tasks.add('a4', client.signal)).toBe('refused');
    results.push(tasks.add('a5'));
    await tasks.endAll();
    expect(tasks.started).toEqual(['a1', 'a5']);
  });

  it('when it is full, the last task of the group with most of them is refused', async () => {
    const tasks = new Tasks(new FairLimiter(1, 3));
    const results = ['a1', 'a2', 'a3', 'a4', 'a5', 'b1', 'c1', 'b2'].map((name) => tasks.add(name));
    await tasks.endAll();
    expect((await Promise.all(results)).join(' ')).toBe(
      'done done refused refused refused done done refused',
    );
  });
});
