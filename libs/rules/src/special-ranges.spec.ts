import { addressesIn, isEverybody, specialRangeIn } from './special-ranges';

const PUBLIC_ONLY = false;

describe('specialRangeIn', () => {
  it.each([
    ['169.0.0.0/8', '169.254.0.0/16'],
    ['168.0.0.0/7', '169.254.0.0/16'],
    ['169.254.7.0/24', '169.254.0.0/16'],
    ['128.0.0.0/1', '255.255.255.255/32'],
    ['0.0.0.0/0', '0.0.0.0/8'],
    ['fc00::/6', 'ff00::/8'],
    ['fe00::/7', 'ff00::/8'],
    ['fe80::/9', 'fe80::/10'],
  ])('refuses %s under every policy, because it overlaps %s', (cidr, range) => {
    expect([true, PUBLIC_ONLY].map((policy) => specialRangeIn(cidr, policy)?.range)).toEqual([range, range]);
  });

  it.each([
    ['8.0.0.0/6', '10.0.0.0/8'],
    ['172.0.0.0/8', '172.16.0.0/12'],
    ['198.16.0.0/12', '198.18.0.0/15'],
    ['192.0.0.0/16', '192.0.0.0/24'],
    ['2000::/12', '2001::/32'],
    ['2001:100::/24', '2001::/23'],
    ['2003::/15', '2002::/16'],
    ['2000::/3', '2001::/32'],
    ['64:ff9b::a00:0/104', '64:ff9b::/96'],
  ])('refuses %s where only public addresses are allowed, because of %s', (cidr, range) => {
    expect([true, PUBLIC_ONLY].map((policy) => specialRangeIn(cidr, policy)?.range)).toEqual([
      undefined,
      range,
    ]);
  });

  it.each(['8.0.0.0/7', '11.0.0.0/8', '203.0.113.0/24', '2001:db8::/32', '2400::/12', '2001:200::/23'])(
    'accepts %s under every policy',
    (cidr) => {
      expect([specialRangeIn(cidr, true), specialRangeIn(cidr, PUBLIC_ONLY)]).toEqual([null, null]);
    },
  );
});

describe('addressesIn', () => {
  it.each([
    [[], 0n],
    [['10.0.0.0/8'], 2n ** 24n],
    [['10.0.0.0/8', '10.0.0.0/8', '10.1.0.0/16', '10.255.255.255/32'], 2n ** 24n],
    [['10.1.0.0/16', '10.0.0.0/8', '11.0.0.0/8'], 2n ** 25n],
    [['255.255.255.0/24', '0.0.0.0/24'], 512n],
    [['2001:db8::/32', '2001:db9::/32'], 2n ** 97n],
    [['::/0', '2001:db8::/32'], 2n ** 128n],
  ])('counts the distinct addresses of %j: %s', (cidrs, count) => {
    expect(addressesIn(cidrs)).toBe(count);
  });
});

describe('isEverybody', () => {
  it.each([
    [['0.0.0.0/0'], 4, true],
    [['128.0.0.0/1', '0.0.0.0/1'], 4, true],
    [
      ['0.0.0.0/5', '8.0.0.0/7', '11.0.0.0/8', '12.0.0.0/6', '16.0.0.0/4', '32.0.0.0/3', '64.0.0.0/2'],
      4,
      false,
    ],
    [['0.0.0.0/1', '128.0.0.0/2', '192.0.0.0/3'], 4, true],
    [[], 4, false],
    [['2000::/3'], 6, true],
    [['::/0'], 6, true],
    [['2000::/4'], 6, false],
    [[], 6, false],
  ] as const)('says of %j in IPv%d: %s', (cidrs, version, expected) => {
    expect(isEverybody(cidrs, version)).toBe(expected);
  });
});
