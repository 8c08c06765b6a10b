import * as fc from 'fast-check';
import { isWithin, parseHost } from './address';
import { callerOf, DEFAULT_TRUSTED_PROXIES, isProxyRange, privatePeer } from './client-address';

/** Ranges of typical reverse proxies. */
const PROXIES = [
  ...DEFAULT_TRUSTED_PROXIES,
  '169.254.0.0/16',
  'fe80::/16',
  '10.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  'fd00::/16',
];

interface Case {
  readonly name: string;
  readonly peer: string | undefined;
  readonly forwardedFor?: string;
  readonly forwarded?: string;
  readonly realIp?: string;
  readonly expected: string | null;
}

const NOBODY = 'nobody usable';

const sourceOf = (
  { peer, forwardedFor, forwarded, realIp }: Omit<Case, 'name' | 'expected'>,
  trusted: readonly string[] = PROXIES,
): string | null => {
  const given = { peer, forwardedFor, forwarded, realIp };
  const { address, unusable } = callerOf(given, trusted, { refuseLocal: false });
  return unusable === null ? (address?.text ?? null) : NOBODY;
};

/** A caller as printed by a socket or a proxy, and its canonical text. */
const CALLERS = [
  { printed: '203.0.113.7', canonical: '203.0.113.7' },
  { printed: '2001:DB8::7', canonical: '2001:db8::7' },
  { printed: '::ffff:203.0.113.7', canonical: '203.0.113.7' },
  { printed: '203.0.113.7:50123', canonical: '203.0.113.7' },
  { printed: '[2001:db8::7]:443', canonical: '2001:db8::7' },
  { printed: '[2001:db8::7]', canonical: '2001:db8::7' },
  { printed: '[::ffff:203.0.113.7]:0', canonical: '203.0.113.7' },
] as const;

/** Spoofed header beginnings. */
const SPOOFED = [
  '198.51.100.66',
  '10.0.0.66',
  '127.0.0.1',
  'garbage',
  '',
  ' , ,',
  '198.51.100.66, 2001:db8::66, 10.0.0.66',
];

/** Route of a request. `proxies`: trusted hops between the caller and the socket's peer. */
const TOPOLOGIES = [
  { name: 'one proxy on this host', peer: '127.0.0.1', proxies: [] },
  { name: 'one proxy, IPv6 loopback', peer: '::1', proxies: [] },
  { name: 'one proxy, mapped peer', peer: '::ffff:10.0.0.2', proxies: [] },
  { name: 'one proxy on the link', peer: 'fe80::2%eth0', proxies: [] },
  { name: 'two proxies', peer: '10.0.0.2', proxies: ['192.168.7.7'] },
  { name: 'two proxies, IPv6', peer: 'fd00::2', proxies: ['fd00::1'] },
  { name: 'two proxies that print ports', peer: '10.0.0.2', proxies: ['192.168.7.7:61000', '[fd00::1]:80'] },
  { name: 'three proxies, one printed mapped', peer: '172.16.0.2', proxies: ['::ffff:10.0.0.9', 'fd00::1'] },
] as const;

/** Every topology, caller and spoofed beginning; each proxy appends its own peer. */
const appended: Case[] = TOPOLOGIES.flatMap(({ name, peer, proxies }) =>
  CALLERS.flatMap(({ printed, canonical }) =>
    [null, ...SPOOFED].map((spoofed) => ({
      name: `${name}, from ${printed}, who sent ${spoofed === null ? 'no header' : `"${spoofed}"`}`,
      peer,
      forwardedFor: [...(spoofed === null ? [] : [spoofed]), printed, ...proxies].join(', '),
      realIp: '198.51.100.99',
      expected: canonical,
    })),
  ),
);

/** Peers that are not trusted proxies: their headers are ignored. */
const direct: Case[] = [
  { printed: '203.0.113.7', canonical: '203.0.113.7' },
  { printed: '::ffff:203.0.113.7', canonical: '203.0.113.7' },
  { printed: '2001:db8::7', canonical: '2001:db8::7' },
  { printed: '2001:DB8:0:0::7', canonical: '2001:db8::7' },
  { printed: '2001:db8::7%eth0', canonical: '2001:db8::7' },
  { printed: '172.32.0.1', canonical: '172.32.0.1' },
  { printed: '100.64.0.1', canonical: '100.64.0.1' },
].flatMap(({ printed, canonical }) =>
  [undefined, '', '198.51.100.66', '10.0.0.66, 127.0.0.1', 'garbage'].flatMap((forwardedFor) =>
    [undefined, '198.51.100.99'].map((realIp) => ({
      name: `direct from ${printed}, X-Forwarded-For "${forwardedFor}", X-Real-IP "${realIp}"`,
      peer: printed,
      ...(forwardedFor === undefined ? {} : { forwardedFor }),
      ...(realIp === undefined ? {} : { realIp }),
      expected: canonical,
    })),
  ),
);

/** X-Forwarded-For of a trusted peer without a usable caller. */
const WITHOUT_CALLER = [
  ['an empty header', ''],
  ['commas alone', ' , ,, '],
  ['a trusted proxy', '10.0.0.9'],
  ['a chain of trusted proxies', '192.168.1.1, 10.0.0.9, ::1'],
  ['an address left of garbage', '203.0.113.7, garbage'],
  ['an address left of garbage and a trusted proxy', '203.0.113.7, unknown, 10.0.0.9'],
  ['a port that is none', '203.0.113.7:65536'],
  ['a colon without a port', '203.0.113.7:'],
  ['an IPv6 port that is none', '[2001:db8::7]:99999'],
  ['an IPv4 address in brackets', '[203.0.113.7]:80'],
  ['brackets left open', '[2001:db8::7:443'],
  ['a zone id in brackets', '[fe80::7%eth0]:443'],
  ['an address with the scheme of Forwarded', 'for=203.0.113.7'],
  ['a range', '203.0.113.0/24'],
  ['octal', '0313.0.113.7'],
  ['a zone id', 'fe80::7%eth0'],
] as const;
const REAL_IPS = [
  [undefined, '127.0.0.1'],
  ['', NOBODY],
  ['garbage', NOBODY],
  ['203.0.113.8, 203.0.113.9', NOBODY],
  ['203.0.113.8', '203.0.113.8'],
  [' 203.0.113.8 ', '203.0.113.8'],
  ['::ffff:203.0.113.8', '203.0.113.8'],
  ['203.0.113.8:50123', '203.0.113.8'],
  ['2001:DB8::8', '2001:db8::8'],
  ['10.0.0.8', '10.0.0.8'],
] as const;
const alone: Case[] = REAL_IPS.map(([realIp, expected]) => ({
  name: `X-Real-IP "${realIp}"`,
  peer: '127.0.0.1',
  ...(realIp === undefined ? {} : { realIp }),
  expected,
}));
const unnamed: Case[] = WITHOUT_CALLER.flatMap(([what, forwardedFor]) =>
  [undefined, '203.0.113.8'].map((realIp) => ({
    name: `${what}, X-Real-IP "${realIp}"`,
    peer: '127.0.0.1',
    forwardedFor,
    ...(realIp === undefined ? {} : { realIp }),
    expected: NOBODY,
  })),
);

const forwarded: Case[] = [
  ['for=203.0.113.7', '203.0.113.7'],
  ['for=198.51.100.66, For=203.0.113.7;proto=https;by=10.0.0.1', '203.0.113.7'],
  ['by=10.0.0.1; for="[2001:db8::7]:443", for=10.0.0.9', '2001:db8::7'],
  ['for=_hidden', NOBODY],
  ['for=203.0.113.7, proto=https', NOBODY],
  ['', NOBODY],
].map(([header, expected]) => ({
  name: `Forwarded "${header}"`,
  peer: '127.0.0.1',
  forwarded: header!,
  expected: expected!,
}));

const odd: Case[] = (
  [
    ['no peer', undefined, '203.0.113.7', null],
    ['an empty peer', '', '203.0.113.7', null],
    ['an unreadable peer', '/run/proxy.sock', '203.0.113.7', null],
    ['garbage left of the caller', '::1', 'unknown, _hidden,203.0.113.7', '203.0.113.7'],
    ['an empty entry right of the caller', '::1', '203.0.113.7, ,', '203.0.113.7'],
    ['tabs and no spaces', '::1', '198.51.100.66,\t203.0.113.7\t', '203.0.113.7'],
  ] as const
).map(([name, peer, forwardedFor, expected]) => ({
  name,
  peer,
  forwardedFor,
  realIp: '203.0.113.8',
  expected,
}));

describe.each([
  ['The caller behind trusted proxies is the rightmost untrusted address', appended],
  ['The headers of an untrusted peer are ignored', direct],
  ['X-Real-IP is used without X-Forwarded-For', alone],
  ['X-Forwarded-For without a usable caller never falls back to the proxy', unnamed],
  ['Malformed requests', odd],
])('%s', (_statement, cases) => {
  it.each(cases)('$name', (one) => {
    expect(sourceOf(one)).toBe(one.expected);
  });
});

describe('Forwarded is read where there is no X-Forwarded-For', () => {
  it.each(forwarded)('$name', (one) => {
    expect(sourceOf(one)).toBe(one.expected);
    expect(sourceOf({ ...one, forwardedFor: '203.0.113.9' })).toBe('203.0.113.9');
  });
});

describe('Trusted peers', () => {
  const forged = { forwardedFor: '198.51.100.66', realIp: '198.51.100.99' };

  it.each(['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1'])('include %s by default', (peer) => {
    expect(sourceOf({ peer, ...forged }, DEFAULT_TRUSTED_PROXIES)).toBe('198.51.100.66');
  });

  it.each(['10.0.0.1', '172.16.0.1', '192.168.0.1', '100.64.0.1', '128.0.0.1', 'fe80::1', 'fd00::1', '::2'])(
    'do not include %s by default',
    (peer) => {
      expect(sourceOf({ peer, ...forged }, DEFAULT_TRUSTED_PROXIES)).toBe(peer);
    },
  );

  it('are none when none are configured', () => {
    expect(sourceOf({ peer: '127.0.0.1', ...forged }, [])).toBe('127.0.0.1');
  });

  it('are exactly the configured ones', () => {
    expect(sourceOf({ peer: '203.0.113.250', ...forged }, ['203.0.113.240/28'])).toBe('198.51.100.66');
    expect(sourceOf({ peer: '127.0.0.1', ...forged }, ['203.0.113.240/28'])).toBe('127.0.0.1');
    expect(sourceOf({ peer: '10.0.0.1', forwardedFor: '10.0.0.5' }, ['10.0.0.1/32'])).toBe('10.0.0.5');
  });
});

describe('isProxyRange', () => {
  it.each(['10.0.0.0/8', '10.1.2.3', '192.0.2.0/24', 'fd00::/16', 'fd12:3456::/32', '2001:db8::1'])(
    'may be %s',
    (range) => expect(isProxyRange(range)).toBe(true),
  );

  it.each(['0.0.0.0/0', '::/0', '10.0.0.0/7', '0.0.0.0/1', 'fc00::/7', 'fe80::/10', '::/15', 'proxy', ''])(
    'may not be %s',
    (range) => expect(isProxyRange(range)).toBe(false),
  );
});

describe('privatePeer', () => {
  it.each([
    ['10.0.0.1', '10.0.0.1'],
    ['::ffff:172.18.0.1', '172.18.0.1'],
    ['192.168.1.1', '192.168.1.1'],
    ['fd00::1', 'fd00::1'],
    ['fe80::1%eth0', 'fe80::1'],
    ['100.64.0.1', '100.64.0.1'],
    ['127.0.0.1', null],
    ['::1', null],
    ['203.0.113.7', null],
    ['', null],
    [undefined, null],
  ])('%s: %s', (peer, expected) => {
    expect(privatePeer(peer)).toBe(expected);
  });
});

describe('For any headers', () => {
  const entry = fc.oneof(
    fc.ipV4(),
    fc.ipV6(),
    fc.constantFrom(
      '10.0.0.1',
      '192.168.3.4',
      '::1',
      'fd00::5',
      '',
      'garbage',
      '203.0.113.7:80',
      'fe80::1%eth0',
    ),
  );
  const request = fc.record({
    peer: fc.oneof(entry, fc.constantFrom('127.0.0.1', '10.0.0.1')),
    forwardedFor: fc.array(entry, { maxLength: 5 }).map((entries) => entries.join(', ')),
    realIp: entry,
  });

  it('text to the left of an untrusted address has no effect', () => {
    fc.assert(
      fc.property(
        request,
        fc.array(entry, { maxLength: 3 }),
        fc.ipV4(),
        ({ peer, realIp, forwardedFor }, front, stranger) => {
          fc.pre(!isWithin(stranger, PROXIES));
          const behind = `${stranger}, ${forwardedFor}`;
          const spoofed = [...front, behind].join(', ');
          expect(sourceOf({ peer, realIp, forwardedFor: spoofed })).toBe(
            sourceOf({ peer, realIp, forwardedFor: behind }),
          );
        },
      ),
    );
  });

  it('the caller is one of the addresses of the request, in canonical text', () => {
    fc.assert(
      fc.property(request, (asked) => {
        const inHeaders = [asked.realIp, ...asked.forwardedFor.split(', ')].map((text) =>
          text === '203.0.113.7:80' ? '203.0.113.7' : text,
        );
        const named = [asked.peer.replace(/%.*/s, ''), ...inHeaders];
        const texts = named.map((text) => parseHost(text)?.text ?? null);
        expect(texts).toContain(callerOf(asked, PROXIES, { refuseLocal: true }).address?.text ?? null);
      }),
    );
  });
});
