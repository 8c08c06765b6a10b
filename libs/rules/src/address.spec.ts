import {
  canonicalCidr,
  isWithin,
  parseHost,
  readGivenAddress,
  refusalOf,
  REFUSAL_MESSAGES,
  type AddressRefusal,
  type IpVersion,
} from './address';

const OPEN = { allowPrivate: true };
const PUBLIC_ONLY = { allowPrivate: false };

describe('parseHost', () => {
  it.each([
    ['203.0.113.7', 4, '203.0.113.7'],
    ['0.0.0.0', 4, '0.0.0.0'],
    ['255.255.255.255', 4, '255.255.255.255'],
    ['2001:db8::1', 6, '2001:db8::1'],
    ['2001:DB8::ABCD', 6, '2001:db8::abcd'],
    ['2001:0db8:0000:0000:0000:0000:0000:0001', 6, '2001:db8::1'],
    ['2001:db8:0:0:1:0:0:1', 6, '2001:db8::1:0:0:1'],
    ['2001:db8:0:1:1:1:1:1', 6, '2001:db8:0:1:1:1:1:1'],
    ['2001:db8::1:1:1:1:1', 6, '2001:db8:0:1:1:1:1:1'],
    ['2001:0:0:1:0:0:0:1', 6, '2001:0:0:1::1'],
    ['1:2:3:4:5:6:7::', 6, '1:2:3:4:5:6:7:0'],
    ['::2:3:4:5:6:7:8', 6, '0:2:3:4:5:6:7:8'],
    ['0:0:0:0:0:0:0:0', 6, '::'],
    ['0:0:0:0:0:0:0:1', 6, '::1'],
    ['fe80:0:0:0:0:0:0:0', 6, 'fe80::'],
    ['64:ff9b::192.0.2.33', 6, '64:ff9b::c000:221'],
    ['::ffff:0:192.0.2.33', 6, '::ffff:0:c000:221'],
  ] as const)('%s', (text, version, canonical) => {
    expect(parseHost(text)).toEqual({ version, text: canonical });
  });

  it.each([
    '::ffff:203.0.113.7',
    '::FFFF:203.0.113.7',
    '::ffff:cb00:7107',
    '::ffff:CB00:7107',
    '0:0:0:0:0:ffff:cb00:7107',
    '0000:0000:0000:0000:0000:ffff:203.0.113.7',
  ])('parses %s as the IPv4 address it maps', (text) => {
    expect(parseHost(text)).toEqual({ version: 4, text: '203.0.113.7' });
  });

  it.each([
    ['::203.0.113.7', '::cb00:7107'],
    ['::0:203.0.113.7', '::cb00:7107'],
    ['::0.0.0.1', '::1'],
    ['::0.0.0.0', '::'],
  ])('parses %s as IPv6: only ::ffff:0:0/96 maps IPv4', (text, canonical) => {
    expect(parseHost(text)).toEqual({ version: 6, text: canonical });
  });

  it.each([
    ['octal', ['010.0.0.1', '0177.0.0.1', '203.0.113.07', '00.0.0.0', '203.000.113.7']],
    ['hex', ['0x7f.0.0.1', '0x7f000001', '0xcb.0x00.0x71.0x07', '203.0.113.0x7']],
    ['short', ['127.1', '10.1.2', '10', '1.', '203.0.113.', '.0.113.7', '203..113.7']],
    ['integer', ['2130706433', '3405803783', '017700000001', '0']],
    [
      'too long or too large',
      ['203.0.113.7.8', '256.0.0.1', '203.0.113.999', '1e2.0.0.1', '-1.0.0.1', '+1.0.0.1'],
    ],
    ['zone ids', ['fe80::1%eth0', 'fe80::1%1', '2001:db8::1%', '2001:db8::1%25eth0', '203.0.113.7%eth0']],
    ['CIDR', ['203.0.113.7/32', '203.0.113.0/24', '2001:db8::/32', '2001:db8::1/128', '0.0.0.0/0', '::/0']],
    [
      'mapped, badly',
      ['::ffff:010.0.0.1', '::ffff:127.1', '::ffff:256.0.0.1', '::ffff:0x7f.0.0.1', '::ffff:1.2.3.4.5'],
    ],
    [
      'groups',
      [
        '2001:db8',
        '1:2:3:4:5:6:7',
        '1:2:3:4:5:6:7:8:9',
        '1::2::3',
        ':::',
        ':1',
        '1:',
        '12345::',
        '::g',
        '::00001',
      ],
    ],
    ['dotted in the wrong place', ['1.2.3.4::', '1:2:3:4:5:6:7:1.2.3.4', '::1.2.3.4:5', '1.2.3.4:80']],
    [
      'brackets and ports',
      ['[2001:db8::1]', '[2001:db8::1]:443', '203.0.113.7:443', '<203.0.113.7>', '"203.0.113.7"'],
    ],
    [
      'whitespace',
      [
        ' 203.0.113.7',
        '203.0.113.7 ',
        '203.0.113.7\n',
        '203.0.113.7\t',
        '203.0. 113.7',
        '\u00a0::1',
        '::1\r\n',
        '::1\0',
      ],
    ],
    [
      'unicode digits and dots',
      [
        '２０３.0.113.7',
        '٢٠٣.0.113.7',
        '203。0。113。7',
        '203․0․113․7',
        '①.0.0.1',
        '::１',
        '203.0.113.7\u200b',
        '\ufeff203.0.113.7',
      ],
    ],
    [
      'other text',
      [
        '',
        ' ',
        '*',
        'any',
        'localhost',
        'example.org',
        '203.0.113.7,203.0.113.8',
        '203.0.113.7-9',
        '203.0.113.*',
        'null',
        '1.2.3.4#',
      ],
    ],
  ])('refuses %s', (_kind, texts) => {
    const read = texts.filter((text) => parseHost(text) !== null);
    expect(read).toEqual([]);
  });
});

describe('readGivenAddress', () => {
  const refusal = (text: string, version: IpVersion, policy = OPEN): AddressRefusal | null => {
    const read = readGivenAddress(text, version, policy);
    return 'refusal' in read ? read.refusal : null;
  };
  const familyOf = (text: string): IpVersion => (text.includes(':') ? 6 : 4);

  it.each([
    ['203.0.113.7', 6],
    ['2001:db8::1', 4],
    ['::ffff:203.0.113.7', 6],
    ['::ffff:cb00:7107', 6],
  ] as const)('refuses %s in the field of IPv%d', (text, version) => {
    expect(refusal(text, version)).toBe('wrong-family');
  });

  it('accepts a mapped address as IPv4', () => {
    expect(readGivenAddress('::ffff:203.0.113.7', 4, OPEN)).toEqual({
      host: { version: 4, text: '203.0.113.7' },
    });
  });

  it.each([4, 6] as const)('reports text that is not an address before its family (IPv%d)', (version) => {
    expect(refusal('2001:db8::1%eth0', version)).toBe('not-an-address');
    expect(refusal('203.0.113.7/32', version)).toBe('not-an-address');
  });

  it.each<[AddressRefusal, string[]]>([
    ['unspecified', ['0.0.0.0', '0.0.0.1', '0.255.255.255', '::', '0:0:0:0:0:0:0:0', '::0.0.0.0']],
    [
      'multicast',
      [
        '224.0.0.0',
        '224.0.0.251',
        '239.255.255.255',
        'ff00::',
        'ff02::1',
        'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
      ],
    ],
    ['broadcast', ['255.255.255.255']],
    [
      'link-local',
      ['169.254.0.0', '169.254.169.254', '169.254.255.255', 'fe80::', 'fe80::1', 'febf:ffff::1'],
    ],
  ])('refuses %s addresses under every policy', (expected, texts) => {
    for (const text of texts) {
      expect([text, refusal(text, familyOf(text), OPEN)]).toEqual([text, expected]);
      expect([text, refusal(text, familyOf(text), PUBLIC_ONLY)]).toEqual([text, expected]);
    }
  });

  it.each([
    [
      'private',
      ['10.0.0.0', '10.255.255.255', '172.16.0.0', '172.31.255.255', '192.168.0.1', '192.168.255.255'],
    ],
    ['loopback', ['127.0.0.0', '127.0.0.1', '127.255.255.255', '::1', '::0.0.0.1']],
    ['carrier-grade NAT', ['100.64.0.0', '100.127.255.255']],
    ['unique local', ['fc00::', 'fd12:3456:789a::1', 'fdff:ffff::']],
    ['site-local', ['fec0::1', 'feff:ffff::1']],
    ['reserved', ['240.0.0.0', '255.255.255.254', '192.0.0.0', '192.0.0.255', '192.0.0.192']],
    ['for benchmarks', ['198.18.0.0', '198.19.255.255', '2001:2::1']],
    ['for 6to4', ['192.88.99.1', '2002::', '2002:808:808::1', '2002:ffff:ffff::1']],
    ['for Teredo', ['2001::', '2001:0:808:808::1', '2001:0:ffff::1']],
    ['for NAT64', ['64:ff9b::', '64:ff9b::8.8.8.8', '64:ff9b::a00:1', '64:ff9b:1:ffff::1']],
    ['IPv4-compatible or translated', ['::8.8.8.8', '::ffff:0:8.8.8.8']],
    ['not given out', ['::2', '1fff::1', '4000::1', '5f00::1', '8000::1', 'fbff::1', 'fe00::1']],
  ])('refuses %s addresses only where public addresses are required', (_kind, texts) => {
    for (const text of texts) {
      expect([text, refusal(text, familyOf(text), OPEN)]).toEqual([text, null]);
      expect([text, refusal(text, familyOf(text), PUBLIC_ONLY)]).toEqual([text, 'private']);
    }
  });

  it.each([
    ['documentation', ['192.0.2.1', '198.51.100.1', '203.0.113.7', '2001:db8::1']],
    [
      'public',
      ['1.0.0.0', '8.8.8.8', '9.255.255.255', '11.0.0.0', '172.15.255.255', '172.32.0.0', '100.63.255.255'],
    ],
    [
      'public beside a refused range',
      ['100.128.0.0', '126.255.255.255', '128.0.0.0', '169.253.255.255', '169.255.0.0', '223.255.255.255'],
    ],
    ['public IPv6', ['2606:4700::1111', '2001:4860:4860::8888', '2a00::1', '3fff:ffff::1']],
  ])('accepts %s addresses under every policy', (_kind, texts) => {
    for (const text of texts) {
      expect([text, refusal(text, familyOf(text), OPEN)]).toEqual([text, null]);
      expect([text, refusal(text, familyOf(text), PUBLIC_ONLY)]).toEqual([text, null]);
    }
  });

  it('has a message for every refusal', () => {
    for (const words of Object.values(REFUSAL_MESSAGES)) expect(words).toMatch(/^(is|belongs) /);
    expect(refusalOf({ version: 4, text: '203.0.113.7' }, PUBLIC_ONLY)).toBeNull();
  });
});

describe('canonicalCidr', () => {
  it.each([
    ['203.0.113.7', 4, '203.0.113.7/32', 32],
    ['203.0.113.7/32', 4, '203.0.113.7/32', 32],
    ['10.1.2.3/8', 4, '10.0.0.0/8', 8],
    ['203.0.113.255/25', 4, '203.0.113.128/25', 25],
    ['255.255.255.255/0', 4, '0.0.0.0/0', 0],
    ['2001:DB8::1', 6, '2001:db8::1/128', 128],
    ['2001:db8:1:2:3:4:5:6/48', 6, '2001:db8:1::/48', 48],
    ['2001:db8::ffff/127', 6, '2001:db8::fffe/127', 127],
    ['ffff::/1', 6, '8000::/1', 1],
    ['2001:db8::1/0', 6, '::/0', 0],
    ['::203.0.113.7/112', 6, '::cb00:0/112', 112],
    ['::ffff:203.0.113.7', 4, '203.0.113.7/32', 32],
    ['::ffff:cb00:7107', 4, '203.0.113.7/32', 32],
  ] as const)('%s', (text, version, cidr, prefix) => {
    expect(canonicalCidr(text)).toEqual({ version, cidr, prefix });
  });

  it.each([
    ['a prefix too long', ['10.0.0.0/33', '10.0.0.0/128', '2001:db8::/129', '2001:db8::/999']],
    [
      'no decimal number',
      [
        '10.0.0.0/',
        '10.0.0.0/08',
        '10.0.0.0/00',
        '10.0.0.0/+8',
        '10.0.0.0/-1',
        '10.0.0.0/8.0',
        '10.0.0.0/0x8',
        '10.0.0.0/1e1',
        '10.0.0.0/٨',
      ],
    ],
    ['a netmask', ['10.0.0.0/255.0.0.0', '2001:db8::/ffff::']],
    [
      'more text',
      ['10.0.0.0/8/8', '10.0.0.0/8 ', '10.0.0.0 /8', '10.0.0.0/ 8', '10.0.0.0/8\n', '10.0.0.0/8,::/0'],
    ],
    ['no address', ['', '/', '/8', '10/8', '10.0.0/8', '010.0.0.0/8', 'fe80::%eth0/64', 'fe80::/64%eth0']],
    ['a range of mapped addresses', ['::ffff:10.0.0.0/104', '::ffff:10.0.0.1/128', '::ffff:10.0.0.0/8']],
  ])('refuses %s', (_kind, texts) => {
    expect(texts.filter((text) => canonicalCidr(text) !== null)).toEqual([]);
  });
});

describe('isWithin', () => {
  it.each([
    ['10.1.2.3', ['192.168.0.0/16', '10.0.0.0/8'], true],
    ['::ffff:10.1.2.3', ['10.0.0.0/8'], true],
    ['10.1.2.3', ['10.1.2.3'], true],
    ['10.1.2.4', ['10.1.2.3'], false],
    ['10.1.2.3', ['0.0.0.0/0'], true],
    ['10.1.2.3', ['::/0'], false],
    ['2001:db8::1', ['0.0.0.0/0'], false],
    ['2001:db8::1', ['2001:DB8:0:0::/64'], true],
    ['2001:db8:0:1::1', ['2001:db8::/64'], false],
    ['10.1.2.3', [], false],
    ['10.1.2.3', ['nonsense', '10.0.0.0/99'], false],
    ['nonsense', ['0.0.0.0/0', '::/0'], false],
  ])('%s in %j: %s', (text, ranges, expected) => {
    expect(isWithin(text, ranges)).toBe(expected);
    expect(isWithin(text, ranges)).toBe(expected);
  });
});
