import * as fc from 'fast-check';
import { auditSealHash, BEFORE_FIRST_RECORD, canonicalJson } from './audit-seal';

const RECORD = {
  id: '00000000-0000-4000-8000-000000000001',
  organizationId: '00000000-0000-4000-8000-000000000002',
  sequence: '42',
  transactionId: '9007199254740993',
  eventType: 'SESSION_STOPPED',
  timestamp: '2026-01-31T09:30:00.000001Z',
  actorType: 'USER',
  actorId: '00000000-0000-4000-8000-000000000003',
  actorEmail: 'ada@example.com',
  resourceType: 'SESSION',
  resourceId: null,
  resourceName: null,
  result: 'SUCCESS',
  ipAddress: '203.0.113.7',
  errorMessage: null,
  details: { b: true, a: [1, { y: 'é€😀\n', x: null }] },
};

describe('canonicalJson', () => {
  it.each([
    ['members by name', { b: 1, a: 2 }, '{"a":2,"b":1}'],
    ['at every depth', { z: [{ d: 1, c: 2 }] }, '{"z":[{"c":2,"d":1}]}'],
    ['upper case before lower, short before long', { aa: 1, a: 2, B: 3 }, '{"B":3,"a":2,"aa":1}'],
    // the first of these is U+1F600, two code units; by code points it would come last
    ['names by UTF-16 code units', { '\uFB33': 1, '😀': 2 }, '{"😀":2,"\uFB33":1}'],
    ['arrays in their own order', [3, 1, 2], '[3,1,2]'],
    ['numbers as ECMAScript prints them', [1e21, 0.1, -0, 4.5, 1e-7], '[1e+21,0.1,0,4.5,1e-7]'],
    ['escapes only what must be', 'é"\\\n\u0001/', '"é\\"\\\\\\n\\u0001/"'],
    ['nothing', {}, '{}'],
    ['null, false, empty', [null, false, ''], '[null,false,""]'],
    ['a member named __proto__', JSON.parse('{"__proto__":1}'), '{"__proto__":1}'],
  ])('%s', (_, value, text) => {
    expect(canonicalJson(value)).toBe(text);
  });

  it('round-trips every value, independent of the order of members', () => {
    fc.assert(
      fc.property(fc.json(), (json) => {
        const value: unknown = JSON.parse(json);
        const text = canonicalJson(value);
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
        expect(canonicalJson(JSON.parse(text))).toBe(text);
      }),
    );
  });
});

describe('auditSealHash', () => {
  it('matches an independent implementation of its description', () => {
    expect(auditSealHash(BEFORE_FIRST_RECORD, RECORD)).toBe(
      '926f6361e16f5c6ecc0f5e7fb0d240df0acee4900eb2219571796d88154b9468',
    );
  });

  it('does not depend on the order of a record’s members', () => {
    const reversed = Object.fromEntries(Object.entries(RECORD).toReversed());
    expect(auditSealHash(BEFORE_FIRST_RECORD, reversed)).toBe(auditSealHash(BEFORE_FIRST_RECORD, RECORD));
  });

  it.each<[string, object]>([
    ...Object.keys(RECORD).map((field): [string, object] => [field, { ...RECORD, [field]: 'changed' }]),
    ['details, deep inside', { ...RECORD, details: { b: true, a: [1, { y: 'é€😀', x: null }] } }],
    ['details, a type', { ...RECORD, details: { ...RECORD.details, b: 'true' } }],
    ['a microsecond', { ...RECORD, timestamp: '2026-01-31T09:30:00.000002Z' }],
    ['an empty text for null', { ...RECORD, resourceName: '' }],
    [
      'two fields that swap their values',
      { ...RECORD, actorEmail: RECORD.ipAddress, ipAddress: RECORD.actorEmail },
    ],
    ['an integer beyond the precision of a double', { ...RECORD, transactionId: '9007199254740992' }],
  ])('changes with the record: %s', (_, changed) => {
    expect(auditSealHash(BEFORE_FIRST_RECORD, changed)).not.toBe(auditSealHash(BEFORE_FIRST_RECORD, RECORD));
  });

  it('changes with the previous hash', () => {
    const other = auditSealHash(BEFORE_FIRST_RECORD, { ...RECORD, sequence: '41' });
    expect(auditSealHash(other, RECORD)).not.toBe(auditSealHash(BEFORE_FIRST_RECORD, RECORD));
  });
});
