import * as fc from 'fast-check';
import { boundsOf, rangesBetween } from './address-range';
import { canonicalCidr } from './address';
import { addressesIn, spanOf } from './special-ranges';

describe('Ranges of addresses', () => {
  it.each([
    ['203.0.113.7', '203.0.113.7', ['203.0.113.7/32']],
    ['203.0.113.0', '203.0.113.255', ['203.0.113.0/24']],
    ['203.0.113.1', '203.0.113.4', ['203.0.113.1/32', '203.0.113.2/31', '203.0.113.4/32']],
    ['0.0.0.0', '255.255.255.255', ['0.0.0.0/0']],
    ['2001:db8::', '2001:db8::1:ffff', ['2001:db8::/111']],
    ['::', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', ['::/0']],
  ])('from %s to %s are %j', (first, last, ranges) => {
    expect(rangesBetween({ first, last })).toEqual(ranges);
  });

  it.each([
    ['203.0.113.8', '203.0.113.7'],
    ['203.0.113.8', '2001:db8::1'],
    ['', '203.0.113.7'],
    ['203.0.113.0/24', '203.0.113.7'],
  ])('from %j to %j are none', (first, last) => {
    expect(rangesBetween({ first, last })).toBeNull();
  });

  it('have the bounds that they are made of, and no address twice', () => {
    const host = fc
      .integer({ min: 0, max: 2 ** 32 - 1 })
      .map((value) => [24, 16, 8, 0].map((shift) => (value >>> shift) & 255).join('.'));
    fc.assert(
      fc.property(host, host, fc.integer({ min: 0, max: 32 }), (one, other, prefix) => {
        const { cidr } = canonicalCidr(`${one}/${prefix}`)!;
        expect(rangesBetween(boundsOf(cidr))).toEqual([cidr]);
        const valueOf = (text: string): bigint => spanOf(`${text}/32`).first;
        const [first, last] = valueOf(one) <= valueOf(other) ? [one, other] : [other, one];
        const ranges = rangesBetween({ first, last })!;
        expect(addressesIn(ranges)).toBe(valueOf(last) - valueOf(first) + 1n);
        expect(ranges.length).toBeLessThanOrEqual(62);
        expect([spanOf(ranges[0]!).first, spanOf(ranges.at(-1)!).last]).toEqual([
          valueOf(first),
          valueOf(last),
        ]);
      }),
    );
  });
});
