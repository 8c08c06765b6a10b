import { PasswordHasher } from './index';

describe('PasswordHasher', () => {
  const hasher = new PasswordHasher(5);
  const client = { group: 'a network' };

  it('uses all of 128 characters', async () => {
    const long = 'ü'.repeat(127);
    const hash = await hasher.hash(`${long}a`, client);
    expect(hash).toMatch(/^\$2b\$05\$/);
    await expect(hasher.verify(`${long}a`, hash, client)).resolves.toBe(true);
    await expect(hasher.verify(`${long}b`, hash, client)).resolves.toBe(false);
  });

  it('verifies to false without a hash', async () => {
    await expect(hasher.verify('anything', null, client)).resolves.toBe(false);
  });

  it('detects a hash made with another cost', async () => {
    const hash = await hasher.hash('secret', client);
    expect([hasher.isOutdated(hash), new PasswordHasher(4).isOutdated(hash)]).toEqual([false, true]);
  });
});
