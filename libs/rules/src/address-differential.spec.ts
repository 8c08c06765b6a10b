import * as fc from 'fast-check';
import { canonicalCidr, isWithin, parseHost, refusalOf, type IpVersion } from './address';

/** An address as a number: the reference implementation of these tests. */
interface Numbered {
  readonly version: IpVersion;
  readonly value: bigint;
}

const bitsOf = (version: IpVersion): bigint => (version === 4 ? 32n : 128n);
const MAPPED = 0xffffn;

const groupsOf = (value: bigint): number[] =>
  Array.from({ length: 8 }, (_, index) => Number((value >> BigInt(112 - 16 * index)) & 0xffffn));

const dotted = (value: bigint): string =>
  [24n, 16n, 8n, 0n].map((shift) => String((value >> shift) & 0xffn)).join('.');

/** RFC 5952: the first of the longest runs of at least two zero groups is left out. */
function formatIpv6(value: bigint): string {
  const groups = groupsOf(value).map((group) => group.toString(16));
  const lengthAt = (start: number): number => {
    const end = groups.findIndex((group, index) => index >= start && group !== '0');
    return (end < 0 ? 8 : end) - start;
  };
  const lengths = groups.map((_, start) => lengthAt(start));
  const longest = Math.max(...lengths);
  if (longest < 2) return groups.join(':');
  const start = lengths.indexOf(longest);
  return `${groups.slice(0, start).join(':')}::${groups.slice(start + longest).join(':')}`;
}

/** The expected result for a number. */
function canonical({ version, value }: Numbered): { version: IpVersion; text: string } {
  if (version === 4) return { version: 4, text: dotted(value) };
  if (value >> 32n === MAPPED) return { version: 4, text: dotted(value & 0xffffffffn) };
  return { version: 6, text: formatIpv6(value) };
}

/** Parses any well-formed text. */
function toNumber(text: string): bigint {
  if (!text.includes(':')) return text.split('.').reduce((sum, octet) => (sum << 8n) + BigInt(octet), 0n);
  const tail = text.slice(text.lastIndexOf(':') + 1);
  const low = tail.includes('.') ? toNumber(tail) : null;
  const plain =
    low === null
      ? text
      : `${text.slice(0, -tail.length)}${(low >> 16n).toString(16)}:${(low & 0xffffn).toString(16)}`;
  const [left = '', right] = plain.split('::');
  const words = (part: string): string[] => (part === '' ? [] : part.split(':'));
  const missing = right === undefined ? 0 : 8 - words(left).length - words(right).length;
  const groups = [...words(left), ...Array<string>(missing).fill('0'), ...words(right ?? '')];
  return groups.reduce((sum, group) => (sum << 16n) + BigInt(`0x${group}`), 0n);
}

/** Numbers at the edges of text formats and ranges, and random numbers. */
const group = fc.oneof(
  { weight: 3, arbitrary: fc.constant(0) },
  fc.constantFrom(1, 0xffff, 0x00ff, 0x0fff, 0xfe80, 0xfebf, 0xfec0, 0xfc00, 0xfd00, 0xff02, 0x2001, 0x0db8),
  fc.nat({ max: 0xffff }),
);
const ipv6 = fc
  .oneof(
    fc
      .array(group, { minLength: 8, maxLength: 8 })
      .map((groups) => groups.reduce((sum, one) => (sum << 16n) + BigInt(one), 0n)),
    fc.bigInt({ min: 0n, max: (1n << 32n) - 1n }).map((low) => (MAPPED << 32n) + low),
    fc.bigInt({ min: 0n, max: (1n << 32n) - 1n }),
  )
  .map((value): Numbered => ({ version: 6, value }));
const octet = fc.oneof(
  fc.constantFrom(0, 1, 10, 100, 127, 169, 172, 192, 198, 203, 223, 224, 239, 240, 254, 255),
  fc.nat({ max: 255 }),
);
const ipv4 = fc.tuple(octet, octet, octet, octet).map((octets): Numbered => ({
  version: 4,
  value: octets.reduce((sum, one) => (sum << 8n) + BigInt(one), 0n),
}));
const anyAddress = fc.oneof(ipv4, ipv6);

/** A well-formed spelling of the number: case, leading zeros, dotted tail, any run of zeros left out. */
function spelling({ version, value }: Numbered): fc.Arbitrary<string> {
  if (version === 4) return fc.constant(dotted(value));
  return fc
    .record({
      dottedTail: fc.boolean(),
      upper: fc.array(fc.boolean(), { minLength: 8, maxLength: 8 }),
      width: fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 8, maxLength: 8 }),
      from: fc.nat({ max: 7 }),
      length: fc.nat({ max: 8 }),
    })
    .map(({ dottedTail, upper, width, from, length }) => {
      const words = groupsOf(value).map((one, index) => {
        const word = one.toString(16).padStart(width[index] ?? 1, '0');
        return upper[index] ? word.toUpperCase() : word;
      });
      const parts = dottedTail ? [...words.slice(0, 6), dotted(value & 0xffffffffn)] : words;
      const run = parts.slice(from, from + length);
      if (run.length === 0 || !run.every((part) => /^0+$/.test(part))) return parts.join(':');
      return `${parts.slice(0, from).join(':')}::${parts.slice(from + run.length).join(':')}`;
    });
}

const spelled = anyAddress.chain((address) =>
  fc.tuple(fc.constant(address), spelling(address), spelling(address)),
);

const prefixed = anyAddress.chain((address) =>
  fc.tuple(fc.constant(address), fc.nat({ max: Number(bitsOf(address.version)) })),
);

const maskOf = (version: IpVersion, prefix: number): bigint => {
  const bits = bitsOf(version);
  return ((1n << BigInt(prefix)) - 1n) << (bits - BigInt(prefix));
};

const RUNS = { numRuns: 2000 };

describe('addresses against arithmetic', () => {
  it('parses every spelling to its number, and its own text to the same text', () => {
    fc.assert(
      fc.property(spelled, ([address, one, other]) => {
        const expected = canonical(address);
        expect([toNumber(one), toNumber(other)]).toEqual([address.value, address.value]);
        for (const text of [one, other, expected.text]) expect(parseHost(text)).toEqual(expected);
      }),
      RUNS,
    );
  });

  it('refuses a damaged spelling, unless the result is well formed', () => {
    const WELL_FORMED = /^[0-9a-f:.]+$/i;
    const damaged = fc
      .tuple(spelled, fc.nat({ max: 45 }), fc.constantFrom('', '0', '1', ' ', '%', '/', 'x', '٣', '\0', '-'))
      .map(([[, text], at, extra]) => {
        const position = at % text.length;
        const rest = text.slice(extra === '' ? position + 1 : position);
        return text.slice(0, position) + extra + rest;
      });
    const isSound = (text: string): boolean => {
      const host = parseHost(text);
      if (!host) return true;
      const mask = host.version === 4 ? 0xffffffffn : (1n << 128n) - 1n;
      return WELL_FORMED.test(text) && (toNumber(text) & mask) === toNumber(host.text);
    };
    fc.assert(
      fc.property(damaged, (text) => {
        expect([text, isSound(text)]).toEqual([text, true]);
      }),
      RUNS,
    );
  });
});

describe('ranges against arithmetic', () => {
  /** A range of mapped addresses is refused. */
  const expectedRange = ({ version, value }: Numbered, prefix: number): object | null => {
    if (canonical({ version, value }).version !== version) return null;
    const network = value & maskOf(version, prefix);
    const text = version === 4 ? dotted(network) : formatIpv6(network);
    return { version, cidr: `${text}/${prefix}`, prefix };
  };

  it('clears the host bits', () => {
    const written = prefixed.chain(([address, prefix]) =>
      spelling(address).map((text) => ({ address, prefix, text: `${text}/${prefix}` })),
    );
    fc.assert(
      fc.property(written, ({ address, prefix, text }) => {
        expect(canonicalCidr(text)).toEqual(expectedRange(address, prefix));
      }),
      RUNS,
    );
  });

  it('agrees with bit masks on membership', () => {
    const pair = prefixed.chain(([network, prefix]) => {
      const host = fc.bigInt({ min: 0n, max: (1n << (bitsOf(network.version) - BigInt(prefix))) - 1n });
      const inside = host.map((low): Numbered => ({
        ...network,
        value: (network.value & maskOf(network.version, prefix)) | low,
      }));
      const near = fc
        .nat({ max: Number(bitsOf(network.version)) - 1 })
        .map((bit): Numbered => ({ ...network, value: network.value ^ (1n << BigInt(bit)) }));
      return fc.tuple(fc.constant(network), fc.constant(prefix), fc.oneof(inside, near, anyAddress));
    });
    const asked = pair.chain(([network, prefix, address]) =>
      fc.tuple(fc.constant({ network, prefix, address }), spelling(address)),
    );
    fc.assert(
      fc.property(asked, ([{ network, prefix, address }, text]) => {
        fc.pre(canonical(network).version === network.version);
        const one = canonical(address);
        const mask = maskOf(network.version, prefix);
        const expected =
          one.version === network.version && (toNumber(one.text) & mask) === (network.value & mask);
        expect(isWithin(text, [`${canonical(network).text}/${prefix}`])).toBe(expected);
      }),
      RUNS,
    );
  });
});

describe('refusals against arithmetic', () => {
  type Range = readonly [string, string, number];
  const RANGES: readonly Range[] = [
    ['unspecified', '0.0.0.0', 8],
    ['broadcast', '255.255.255.255', 32],
    ['multicast', '224.0.0.0', 4],
    ['link-local', '169.254.0.0', 16],
    ['private', '10.0.0.0', 8],
    ['private', '172.16.0.0', 12],
    ['private', '192.168.0.0', 16],
    ['private', '127.0.0.0', 8],
    ['private', '100.64.0.0', 10],
    ['unspecified', '::', 128],
    ['multicast', 'ff00::', 8],
    ['link-local', 'fe80::', 10],
    ['private', '::1', 128],
    ['private', 'fc00::', 7],
    ['private', 'fec0::', 10],
    ['private', '192.0.0.0', 24],
    ['private', '192.31.196.0', 24],
    ['private', '192.52.193.0', 24],
    ['private', '192.88.99.0', 24],
    ['private', '192.175.48.0', 24],
    ['private', '198.18.0.0', 15],
    ['private', '240.0.0.0', 4],
    ['private', '2001::', 23],
    ['private', '2002::', 16],
    ['private', '2620:4f:8000::', 48],
    ['private', '::', 3],
    ['private', '4000::', 2],
    ['private', '8000::', 1],
  ];
  const familyOf = (text: string): IpVersion => (text.includes(':') ? 6 : 4);
  const expected = (host: { version: IpVersion; text: string }): string | null => {
    const value = toNumber(host.text);
    const range = RANGES.find(([, network, prefix]) => {
      const mask = maskOf(host.version, prefix);
      return familyOf(network) === host.version && (value & mask) === (toNumber(network) & mask);
    });
    return range?.[0] ?? null;
  };
  const edge = fc.constantFrom(...RANGES).chain(([, network, prefix]) => {
    const version = familyOf(network);
    const last = toNumber(network) | ((1n << (bitsOf(version) - BigInt(prefix))) - 1n);
    const most = (1n << bitsOf(version)) - 1n;
    const edges = [toNumber(network) - 1n, toNumber(network), last, last + 1n];
    return fc
      .constantFrom(...edges.filter((value) => value >= 0n && value <= most))
      .map((value): Numbered => ({ version, value }));
  });

  it('refuses exactly the listed ranges, including their edges', () => {
    fc.assert(
      fc.property(fc.oneof(edge, anyAddress), (address) => {
        const host = canonical(address);
        const refusal = expected(host);
        expect([host.text, refusalOf(host, { allowPrivate: false })]).toEqual([host.text, refusal]);
        expect([host.text, refusalOf(host, { allowPrivate: true })]).toEqual([
          host.text,
          refusal === 'private' ? null : refusal,
        ]);
      }),
      RUNS,
    );
  });
});
