import { PasswordHasher } from './index';
import { Turns } from './turns';

describe('passwords', () => {
  const hasher = new PasswordHasher(5);

  it('count in full, up to the last of 128 characters', async () => {
    const long = 'ü'.repeat(127);
    const hash = await hasher.hash(`${long}a`);
    expect(hash).toMatch(/^\$2b\$05\$/);
    await expect(hasher.verify(`${long}a`, hash)).resolves.toBe(true);
    await expect(hasher.verify(`${long}b`, hash)).resolves.toBe(false);
  });

  it('are never right where there is no account, after the work of a comparison', async () => {
    await expect(hasher.verify('anything', null)).resolves.toBe(false);
  });

  it('are known as hashed with another cost', async () => {
    const hash = await hasher.hash('secret');
    expect([hasher.isOutdated(hash), new PasswordHasher(4).isOutdated(hash)]).toEqual([false, true]);
  });
});

describe('turns', () => {
  it('lets two run at a time, the others in the order they came, and goes on after a failure', async () => {
    const turns = new Turns(2);
    const running = new Set<number>();
    const started: number[] = [];
    let most = 0;
    const work = (number: number) => async (): Promise<number> => {
      running.add(number);
      started.push(number);
      most = Math.max(most, running.size);
      await new Promise((resolve) => setImmediate(resolve));
      running.delete(number);
      if (number === 1) throw new Error('failed');
      return number;
    };
    const results = await Promise.allSettled([0, 1, 2, 3, 4, 5].map((number) => turns.take(work(number))));
    expect(most).toBe(2);
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
