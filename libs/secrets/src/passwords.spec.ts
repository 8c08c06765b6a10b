import { PasswordHasher } from './index';
import { ConcurrencyLimiter } from './concurrency-limiter';

describe('PasswordHasher', () => {
  const hasher = new PasswordHasher(5);

  it('uses all of 128 characters', async () => {
    const long = 'ü'.repeat(127);
    const hash = await hasher.hash(`${long}a`);
    expect(hash).toMatch(/^\$2b\$05\$/);
    await expect(hasher.verify(`${long}a`, hash)).resolves.toBe(true);
    await expect(hasher.verify(`${long}b`, hash)).resolves.toBe(false);
  });

  it('verifies to false without a hash', async () => {
    await expect(hasher.verify('anything', null)).resolves.toBe(false);
  });

  it('detects a hash made with another cost', async () => {
    const hash = await hasher.hash('secret');
    expect([hasher.isOutdated(hash), new PasswordHasher(4).isOutdated(hash)]).toEqual([false, true]);
  });
});

describe('ConcurrencyLimiter', () => {
  it('runs two at a time, the others in order of arrival, and continues after a failure', async () => {
    const limiter = new ConcurrencyLimiter(2);
    const running = new Set<number>();
    const started: number[] = [];
    let maxRunning = 0;
    const work = (number: number) => async (): Promise<number> => {
      running.add(number);
      started.push(number);
      maxRunning = Math.max(maxRunning, running.size);
      await new Promise((resolve) => setImmediate(resolve));
      running.delete(number);
      if (number === 1) throw new Error('failed');
      return number;
    };
    const results = await Promise.allSettled([0, 1, 2, 3, 4, 5].map((number) => limiter.run(work(number))));
    expect(maxRunning).toBe(2);
    expect(started).toEqual([0, 1, 2, 3, 4, 5]);
    expect(results.map((result) => result.status)).toEqual([
      'fulfilled',
      'rejected',
      'fulfilled',
      'fulfilled',
      'fulfilled',
      'fulfilled',
    ]);
  });
});
