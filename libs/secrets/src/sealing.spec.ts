import { randomBytes } from 'node:crypto';
import * as fc from 'fast-check';
import {
  MasterKeys,
  newDataKey,
  openField,
  rewrapDataKey,
  SealBrokenError,
  sealField,
  unwrapDataKey,
  type FieldBinding,
} from './index';

const entry = (version: number): string => `${version}:${randomBytes(32).toString('base64')}`;
const first = entry(1);
const masterKeys = MasterKeys.parse(first);
const dataKeyOf = (organizationId: string) =>
  unwrapDataKey(masterKeys, { organizationId, ...newDataKey(masterKeys, organizationId) });

const binding: FieldBinding = { organizationId: 'org-1', ownerId: 'cred-1', field: 'secretAccessKey' };

/** The text with one bit of one character changed. */
const flip = (text: string, at: number, bit: number): string => {
  const index = at % text.length;
  return (
    text.slice(0, index) + String.fromCodePoint(text.charCodeAt(index) ^ (1 << bit)) + text.slice(index + 1)
  );
};

describe('MASTER_KEYS', () => {
  it('uses the highest version as the current one, in any order', () => {
    expect(MasterKeys.parse(`${entry(3)}, ${entry(10)},${entry(2)}`).currentVersion).toBe(10);
  });

  it.each([
    ['nothing', ''],
    ['no version', randomBytes(32).toString('base64')],
    ['version 0', entry(0)],
    ['a short key', `1:${randomBytes(16).toString('base64')}`],
    ['a long key', `1:${randomBytes(48).toString('base64')}`],
    ['no base64', `1:${'!'.repeat(44)}`],
    ['one version twice', `${entry(1)},${entry(1)}`],
    ['a trailing comma', `${entry(1)},`],
    ['a key of zeros', `1:${Buffer.alloc(32).toString('base64')}`],
  ])('rejects %s without repeating it', (_, text) => {
    const refusal = (): unknown => MasterKeys.parse(text);
    expect(refusal).toThrow(/MASTER_KEYS/);
    const secrets = text.split(/[:,]/).filter((part) => part.length > 20);
    let message = '';
    try {
      refusal();
    } catch (error) {
      message = String(error);
    }
    expect(secrets.filter((secret) => message.includes(secret))).toEqual([]);
  });

  it('prints no key', () => {
    expect(JSON.stringify(masterKeys)).toBe('{"currentVersion":1}');
  });
});

describe('data keys', () => {
  it('open only for their organization and version', () => {
    const stored = newDataKey(masterKeys, 'org-1');
    expect(stored).toMatchObject({ version: 1, masterKeyVersion: 1 });
    expect(unwrapDataKey(masterKeys, { organizationId: 'org-1', ...stored }).version).toBe(1);
    expect(() => unwrapDataKey(masterKeys, { organizationId: 'org-2', ...stored })).toThrow(SealBrokenError);
    expect(() => unwrapDataKey(masterKeys, { organizationId: 'org-1', ...stored, version: 2 })).toThrow(
      SealBrokenError,
    );
  });

  it('do not open without their master key', () => {
    const stored = { organizationId: 'org-1', ...newDataKey(masterKeys, 'org-1') };
    expect(() => unwrapDataKey(MasterKeys.parse(entry(1)), stored)).toThrow(SealBrokenError);
    expect(() => unwrapDataKey(MasterKeys.parse(entry(2)), stored)).toThrow(SealBrokenError);
  });

  it('open earlier fields after a rotation of the master key', () => {
    const stored = { organizationId: 'org-1', ...newDataKey(masterKeys, 'org-1') };
    const sealed = sealField(unwrapDataKey(masterKeys, stored), binding, 'before');
    const both = MasterKeys.parse(`${first},${entry(2)}`);
    const rewrapped = rewrapDataKey(both, stored);
    expect(rewrapped.masterKeyVersion).toBe(2);
    const later = unwrapDataKey(both, { organizationId: 'org-1', ...rewrapped });
    expect(openField(later, binding, sealed)).toBe('before');
  });
});

describe('sealed fields', () => {
  const dataKey = dataKeyOf('org-1');

  it('open with the same binding, for any text, and are different each time', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const sealed = sealField(dataKey, binding, text);
        expect(sealed).toMatch(/^v1:1:[\w-]{16}:[\w-]{22,}$/);
        expect(openField(dataKey, binding, sealed)).toBe(text);
        expect(sealField(dataKey, binding, text)).not.toBe(sealed);
      }),
    );
  });

  it('do not open with another binding', () => {
    fc.assert(
      fc.property(fc.tuple(fc.string(), fc.string(), fc.string()), ([organizationId, ownerId, field]) => {
        const elsewhere = { organizationId, ownerId, field };
        expect(() => openField(dataKey, elsewhere, sealField(dataKey, binding, 'secret'))).toThrow(
          SealBrokenError,
        );
      }),
    );
  });

  it('do not open where a part of one name is that of the next', () => {
    const shifted = { ...binding, ownerId: 'cred-1secret', field: 'AccessKey' };
    expect(() => openField(dataKey, shifted, sealField(dataKey, binding, 'secret'))).toThrow(SealBrokenError);
  });

  it('do not open with another data key', () => {
    const sealed = sealField(dataKey, binding, 'secret');
    expect(() => openField(dataKeyOf('org-1'), binding, sealed)).toThrow(SealBrokenError);
    const second = unwrapDataKey(masterKeys, {
      organizationId: 'org-1',
      ...newDataKey(masterKeys, 'org-1', 2),
    });
    expect(() => openField(second, binding, sealed)).toThrow(SealBrokenError);
  });

  it('do not open with any bit changed, and the error reveals no content', () => {
    fc.assert(
      fc.property(fc.nat(), fc.integer({ min: 0, max: 6 }), (at, bit) => {
        const broken = flip(sealField(dataKey, binding, 'canary-secret'), at, bit);
        expect(() => openField(dataKey, binding, broken)).toThrow(new SealBrokenError('A stored secret'));
      }),
      { numRuns: 1000 },
    );
  });
});
