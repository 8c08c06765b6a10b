import { createHash } from 'node:crypto';
import * as fc from 'fast-check';
import { apiKeyHash, newApiKey, newOpaqueToken, opaqueTokenHash } from './index';

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

describe('API keys', () => {
  it('consist of a prefix, 30 random characters and a checksum, and hash with SHA-256', () => {
    const key = newApiKey();
    expect(key.plainText).toMatch(/^dbk_[0-9A-Za-z]{36}$/);
    expect(key.plainText.startsWith(key.prefix)).toBe(true);
    expect(key.prefix).toHaveLength(10);
    expect(key.hash).toBe(sha256(key.plainText));
    expect(apiKeyHash(key.plainText)).toBe(key.hash);
  });

  it('fail the checksum when any one character is changed', () => {
    fc.assert(
      fc.property(fc.nat(39), fc.stringMatching(/^[0-9A-Za-z]$/), (at, character) => {
        const { plainText } = newApiKey();
        fc.pre(plainText[at] !== character);
        expect(apiKeyHash(plainText.slice(0, at) + character + plainText.slice(at + 1))).toBeNull();
      }),
    );
  });

  it.each(['', 'dbk_', ' ', 'Bearer x', `${newApiKey().plainText} `, `${newApiKey().plainText}0`])(
    'reject %j',
    (text) => {
      expect(apiKeyHash(text)).toBeNull();
    },
  );

  it('have the standard CRC-32 as checksum: six base62 digits, most significant first', () => {
    // CRC-32 of thirty zeros is 0x77e5db82
    const value = 0x77_e5_db_82;
    const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
    const digits = [5, 4, 3, 2, 1, 0].map((power) => alphabet[Math.floor(value / 62 ** power) % 62]).join('');
    expect(apiKeyHash(`dbk_${'0'.repeat(30)}${digits}`)).not.toBeNull();
  });

  it('use all characters about equally often', () => {
    const counts = new Map<string, number>();
    const keys = 2000;
    for (let made = 0; made < keys; made += 1) {
      for (const character of newApiKey().plainText.slice(4, 34)) {
        counts.set(character, (counts.get(character) ?? 0) + 1);
      }
    }
    const expected = (keys * 30) / 62;
    expect(counts.size).toBe(62);
    // with a modulo, eight characters would come a quarter more often
    for (const count of counts.values()) expect(Math.abs(count - expected)).toBeLessThan(expected * 0.2);
  });
});

describe('opaque tokens', () => {
  it('have 256 random bits and hash with SHA-256', () => {
    const token = newOpaqueToken();
    expect(token.plainText).toMatch(/^[\w-]{43}$/);
    expect(token.hash).toBe(sha256(token.plainText));
    expect(opaqueTokenHash(token.plainText)).toBe(token.hash);
    expect(newOpaqueToken().plainText).not.toBe(token.plainText);
  });
});
