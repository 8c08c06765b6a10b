import * as fc from 'fast-check';
import { parseHost } from './address';
import { rateLimitBucket } from './client-address';

describe('rateLimitBucket', () => {
  const bucketOf = (text: string): string => {
    const host = parseHost(text);
    return host ? rateLimitBucket(host) : 'unreadable';
  };

  it.each([
    ['203.0.113.7', '203.0.113.7'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::', '2001:db8:1:2::/64'],
    ['2001:db8::2:3:4:5:6', '2001:db8:0:2::/64'],
    ['1::', '1:0:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['::', '0:0:0:0::/64'],
    ['::2:3:4:5:6:7:8', '0:2:3:4::/64'],
  ])('%s: %s', (text, bucket) => {
    expect(bucketOf(text)).toBe(bucket);
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
