import { createHash } from 'node:crypto';
import { estimatedBits, MIN_SECRET_BITS } from './secret-strength';

const random = (seed: number): Buffer => createHash('sha256').update(String(seed)).digest();
const seeds = Array.from({ length: 2000 }, (_, seed) => seed);

describe('estimatedBits', () => {
  it.each(['hex', 'base64', 'base64url'] as const)('accepts 32 random bytes in %s', (encoding) => {
    const weak = seeds.filter((seed) => estimatedBits(random(seed).toString(encoding)) < MIN_SECRET_BITS);
    expect(weak).toEqual([]);
  });

  it('accepts 32 raw random bytes', () => {
    expect(seeds.filter((seed) => estimatedBits(random(seed).toString('latin1')) < 200)).toEqual([]);
  });

  it.each([
    'x'.repeat(64),
    'ab'.repeat(32),
    '0123456789'.repeat(5),
    'abcdefghijklmnopqrstuvwxyz0123456789',
    'correcthorse'.repeat(4),
    '7'.repeat(20) + 'Zq3'.repeat(10),
    'this-is-my-super-secret-key-that-nobody-knows',
    'ChangeMeBeforeYouGoToProduction-42-42-42',
    '4711081547110815',
    'f3a9c1d07be24865f3a9c1d07be24865',
    random(1).toString('hex').slice(0, 31),
    '',
  ])('rejects %j', (text) => {
    expect(estimatedBits(text)).toBeLessThan(MIN_SECRET_BITS);
  });
});
