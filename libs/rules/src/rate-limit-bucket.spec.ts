import * as fc from 'fast-check';
import { parseHost } from './address';
import { rateLimitBuckets } from './client-address';

describe('rateLimitBuckets', () => {
  const bucketOf = (text: string): string => {
    const host = parseHost(text);
    return host ? rateLimitBuckets(host)[0]!.name : 'unreadable';
  };

  it.each([
    ['203.0.113.7', '203.0.113.7'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['2001:db8:1:2::', '2001:db8:1:2::/64'],
    ['::1', '0:0:0:0::/64'],
    ['::2:3:4:5:6:7:8', '0:2:3:4::/64'],
  ])('%s: %s', (text, bucket) => {
    expect(bucketOf(text)).toBe(bucket);
  });

  it('count an IPv6 site with ten times as much', () => {
    const buckets = rateLimitBuckets(parseHost('2001:db8:1:2::3')!);
    expect(buckets.slice(1)).toEqual([{ name: '2001:db8:1::/48', factor: 10 }]);
    expect(rateLimitBuckets(parseHost('203.0.113.7')!)).toEqual([{ name: '203.0.113.7', factor: 1 }]);
  });

  it('is shared by a /64, and differs for its neighbour', () => {
    const groups = (length: number): fc.Arbitrary<string[]> =>
      fc.array(
        fc.nat({ max: 0xffff }).map((group) => group.toString(16)),
        { minLength: length, maxLength: length },
      );
    fc.assert(
      fc.property(groups(3), fc.nat({ max: 0xfffe }), groups(4), groups(4), (net, last, one, other) => {
        const within = (subnet: number, host: string[]): string =>
          [...net, subnet.toString(16), ...host].join(':');
        fc.pre(!within(last, one).startsWith('0:0:0:0') && !within(last, other).startsWith('0:0:0:0'));
        expect(bucketOf(within(last, one))).toBe(bucketOf(within(last, other)));
        expect(bucketOf(within(last, one))).not.toBe(bucketOf(within(last + 1, one)));
      }),
    );
  });
});
