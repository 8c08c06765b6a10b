import { createHash } from 'node:crypto';
import bcrypt from 'bcrypt';
import { PasswordHasher } from './index';

describe('PasswordHasher', () => {
  const hasher = new PasswordHasher(5);
  const client = { group: 'a network' };

  it('verifies to false without a hash', async () => {
    await expect(hasher.verify('anything', null, client)).resolves.toBe(false);
  });

  it('takes both ways to write a letter with a mark, and finds a hash of the other way outdated', async () => {
    const [composed, typed] = ['Gr\u00F6\u00DFe', 'Gro\u0308\u00DFe'] as const;
    const digest = createHash('sha384').update(typed, 'utf8').digest('base64');
    const [hash, former] = [await hasher.hash(typed, client), await bcrypt.hash(digest, 5)];
    const verified = [composed, typed].map((password) => hasher.verify(password, hash, client));
    expect(await Promise.all([...verified, hasher.verify(typed, former, client)])).toEqual([
      true,
      true,
      true,
    ]);
    const outdated = [hash, former].map((one) => hasher.isOutdated(one, typed, client));
    expect(await Promise.all(outdated)).toEqual([false, true]);
  });
});
