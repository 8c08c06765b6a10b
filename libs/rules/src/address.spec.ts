import {
  canonicalCidr,
  isWithin,
  parseHost,
  readGivenAddress,
  type AddressRefusal,
  type IpVersion,
} from './address';

const OPEN = { allowPrivate: true };
const PUBLIC_ONLY = { allowPrivate: false };

/** Examples; `address-differential.spec.ts` compares with arithmetic, `test/hostile/address-spellings` with Python. */
describe('parseHost', () => {
  it.each([
    ['203.0.113.7', 4, '203.0.113.7'],
    ['2001:DB8::ABCD', 6, '2001:db8::abcd'],
    ['2001:db8:0:0:1:0:0:1', 6, '2001:db8::1:0:0:1'],
    ['2001:db8::1:1:1:1:1', 6, '2001:db8:0:1:1:1:1:1'],
    ['1:2:3:4:5:6:7::', 6, '1:2:3:4:5:6:7:0'],
    ['0:0:0:0:0:0:0:0', 6, '::'],
    ['64:ff9b::192.0.2.33', 6, '64:ff9b::c000:221'],
    ['::ffff:203.0.113.7', 4, '203.0.113.7'],
    ['::FFFF:cb00:7107', 4, '203.0.113.7'],
    // only ::ffff:0:0/96 maps IPv4
    ['::203.0.113.7', 6, '::cb00:7107'],
    ['::ffff:0:192.0.2.33', 6, '::ffff:0:c000:221'],
  ] as const)('%s', (text, version, canonical) => {
    expect(parseHost(text)).toEqual({ version, text: canonical });
  });

  it.each([
    ['octal', ['010.0.0.1', '0177.0.0.1', '203.0.113.07', '00.0.0.0', '203.000.113.7']],
    ['hex', ['0x7f.0.0.1', '0x7f000001', '0xcb.0x00.0x71.0x07', '203.0.113.0x7']],
    ['short', ['127.1', '10.1.2', '10', '1.', '203.0.113.', '.0.113.7', '203..113.7']],
    ['integer', ['2130706433', '3405803783', '017700000001', '0']],
    ['too long or too large', ['203.0.113.7.8', '256.0.0.1', '1e2.0.0.1', '-1.0.0.1', '+1.0.0.1']],
    ['zone ids', ['fe80::1%eth0', '2001:db8::1%', '2001:db8::1%25eth0', '203.0.113.7%eth0']],
    ['CIDR', ['203.0.113.7/32', '203.0.113.0/24', '2001:db8::/32', '0.0.0.0/0', '::/0']],
    ['mapped, badly', ['::ffff:010.0.0.1', '::ffff:127.1', '::ffff:256.0.0.1', '::ffff:1.2.3.4.5']],
    ['groups', ['2001:db8', '1:2:3:4:5:6:7:8:9', '1::2::3', ':::', ':1', '12345::', '::g', '::00001']],
    ['dotted in the wrong place', ['1.2.3.4::', '1:2:3:4:5:6:7:1.2.3.4', '::1.2.3.4:5', '1.2.3.4:80']],
    ['brackets and ports', ['[2001:db8::1]', '[2001:db8::1]:443', '203.0.113.7:443', '"203.0.113.7"']],
    ['whitespace', [' 203.0.113.7', '203.0.113.7\n', '203.0. 113.7', '\u00a0::1', '::1\r\n', '::1\0']],
    ['unicode digits and dots', ['２０３.0.113.7', '٢٠٣.0.113.7', '203。0。113。7', '①.0.0.1', '::１']],
    ['other text', ['', ' ', '*', 'any', 'localhost', '203.0.113.7,203.0.113.8', '203.0.113.*']],
  ])('refuses %s', (_kind, texts) => {
    expect(texts.filter((text) => parseHost(text) !== null)).toEqual([]);
  });
});

describe('readGivenAddress', () => {
  const refusal = (text: string, version: IpVersion, policy = OPEN): AddressRefusal | null => {
    const read = readGivenAddress(text, version, policy);
    return 'refusal' in read ? read.refusal : null;
  };

  it('reads a mapped address as IPv4, and refuses it in the field of IPv6', () => {
    const host = { version: 4, text: '203.0.113.7' };
    expect(readGivenAddress('::ffff:203.0.113.7', 4, OPEN)).toEqual({ host });
    expect(refusal('::ffff:cb00:7107', 6)).toBe('wrong-family');
    expect(refusal('2001:db8::1', 4)).toBe('wrong-family');
  });

  it.each([4, 6] as const)('reports text that is not an address before its family (IPv%d)', (version) => {
    expect(refusal('2001:db8::1%eth0', version)).toBe('not-an-address');
    expect(refusal('203.0.113.7/32', version)).toBe('not-an-address');
  });

  it.each([
    ['0.0.0.1', 'unspecified', 'unspecified'],
    ['239.255.255.255', 'multicast', 'multicast'],
    ['255.255.255.255', 'broadcast', 'broadcast'],
    ['169.254.169.254', 'link-local', 'link-local'],
    ['10.0.0.1', null, 'private'],
    ['127.0.0.1', null, 'private'],
    ['203.0.113.7', null, null],
  ] as const)('refuses %s as %s, where only public addresses are allowed as %s', (text, open, strict) => {
    expect([refusal(text, 4), refusal(text, 4, PUBLIC_ONLY)]).toEqual([open, strict]);
  });
});

describe('canonicalCidr', () => {
  it.each([
    ['203.0.113.7', 4, '203.0.113.7/32', 32],
    ['203.0.113.255/25', 4, '203.0.113.128/25', 25],
    ['255.255.255.255/0', 4, '0.0.0.0/0', 0],
    ['2001:DB8::1', 6, '2001:db8::1/128', 128],
    ['2001:db8:1:2:3:4:5:6/48', 6, '2001:db8:1::/48', 48],
    ['::ffff:203.0.113.7', 4, '203.0.113.7/32', 32],
  ] as const)('%s', (text, version, cidr, prefix) => {
    expect(canonicalCidr(text)).toEqual({ version, cidr, prefix });
  });

  it.each([
    ['a prefix too long', ['10.0.0.0/33', '10.0.0.0/128', '2001:db8::/129', '2001:db8::/999']],
    ['no decimal number', ['10.0.0.0/', '10.0.0.0/08', '10.0.0.0/+8', '10.0.0.0/0x8', '10.0.0.0/٨']],
    ['a netmask', ['10.0.0.0/255.0.0.0', '2001:db8::/ffff::']],
    ['more text', ['10.0.0.0/8/8', '10.0.0.0/8 ', '10.0.0.0 /8', '10.0.0.0/8\n', '10.0.0.0/8,::/0']],
    ['no address', ['', '/', '/8', '10/8', '10.0.0/8', '010.0.0.0/8', 'fe80::%eth0/64']],
    ['a range of mapped addresses', ['::ffff:10.0.0.0/104', '::ffff:10.0.0.1/128', '::ffff:10.0.0.0/8']],
  ])('refuses %s', (_kind, texts) => {
    expect(texts.filter((text) => canonicalCidr(text) !== null)).toEqual([]);
  });
});

describe('isWithin', () => {
  it.each([
    ['10.1.2.3', ['192.168.0.0/16', '10.0.0.0/8'], true],
    ['10.1.2.4', ['10.1.2.3'], false],
    ['10.1.2.3', ['::/0'], false],
    ['2001:db8::1', ['2001:DB8:0:0::/64'], true],
    ['10.1.2.3', [], false],
    ['10.1.2.3', ['nonsense', '10.0.0.0/99'], false],
    ['nonsense', ['0.0.0.0/0', '::/0'], false],
  ])('%s in %j: %s', (text, ranges, expected) => {
    // the second time from the ranges that it has read
    expect([isWithin(text, ranges), isWithin(text, ranges)]).toEqual([expected, expected]);
  });
});
