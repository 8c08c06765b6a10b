import { array, assert, integer, nat, property, tuple } from 'fast-check';
import { addressText } from '#rules';
import { addressValue, bounds, disjoint, isHost, type Span } from './address-span';

const span = (cidr: string, deadline: number): Span => ({ ...bounds(cidr), deadline });
const text = (spans: readonly Span[]): string[] =>
  spans.map(({ first, last, deadline }) => `${addressText(first, 4)}-${addressText(last, 4)} ${deadline}`);

describe('Addresses as numbers', () => {
  it.each([
    ['0.0.0.0', 4],
    ['255.255.255.255', 4],
    ['203.0.113.7', 4],
    ['::', 6],
    ['2001:db8::7', 6],
    ['ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', 6],
  ] as const)('%s round-trips', (address, family) => {
    expect(addressText(addressValue(address), family)).toBe(address);
  });

  it('a full prefix length of the address family is a host', () => {
    expect(['10.0.0.1/32', '::1/128', '::1/32', '10.0.0.0/8'].map(isHost)).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });
});

describe('Disjoint spans', () => {
  it('a range with a later deadline than the enclosing one is cut out of it', () => {
    expect(text(disjoint([span('10.0.0.0/24', 5), span('10.0.0.64/26', 9)]))).toEqual([
      '10.0.0.0-10.0.0.63 5',
      '10.0.0.64-10.0.0.127 9',
      '10.0.0.128-10.0.0.255 5',
    ]);
  });

  it('each address is in one span, with its latest deadline', () => {
    const cidr = tuple(nat(63), integer({ min: 26, max: 32 }), nat(4)).map(([host, length, end]) => {
      const size = 2 ** (32 - length);
      return span(`10.0.0.${Math.floor(host / size) * size}/${length}`, end);
    });
    const zero = addressValue('10.0.0.0');
    assert(
      property(array(cidr, { maxLength: 12 }), (spans) => {
        const pieces = disjoint(spans);
        for (let offset = 0n; offset < 64n; offset += 1n) {
          const covering = (all: readonly Span[]): Span[] =>
            all.filter(({ first, last }) => first <= zero + offset && zero + offset <= last);
          const ends = covering(spans).map(({ deadline }) => deadline);
          const found = covering(pieces).map(({ deadline }) => deadline);
          expect(found).toEqual(ends.length === 0 ? [] : [Math.max(...ends)]);
        }
      }),
    );
  });
});
