import * as fc from 'fast-check';
import {
  parsePorts,
  portsText,
  PROTOCOLS,
  ruleKey,
  ruleSpecs,
  type PortRange,
  type RuleSpec,
} from './rule-spec';

const CIDR = '203.0.113.7/32';
const single = (port: number): PortRange => ({ from: port, to: port });

const port = fc.oneof(fc.constantFrom(0, 1, 22, 443, 65_535), fc.nat({ max: 65_535 }));
const range: fc.Arbitrary<PortRange> = fc
  .tuple(port, port)
  .map(([one, other]) => ({ from: Math.min(one, other), to: Math.max(one, other) }));
const spec: fc.Arbitrary<RuleSpec> = fc.record({
  address: fc.constantFrom(CIDR, '203.0.113.0/24', '2001:db8::7/128', '2001:db8::/32'),
  protocol: fc.constantFrom(...PROTOCOLS),
  ports: fc.array(fc.oneof(range, port.map(single)), { maxLength: 3 }),
});

describe('portsText', () => {
  it.each([
    [[], '*'],
    [[single(22)], '22'],
    [[{ from: 80, to: 90 }], '80-90'],
    [[single(22), single(443)], '22,443'],
    [[single(22), { from: 0, to: 65_535 }], '22,0-65535'],
  ])('%j is %s', (ports, text) => {
    expect(portsText(ports)).toBe(text);
    expect(parsePorts(text)).toEqual(ports);
  });

  it('is parsed back to the same ports', () => {
    fc.assert(
      fc.property(spec, ({ ports }) => {
        expect(parsePorts(portsText(ports))).toEqual(ports);
      }),
    );
  });
});

describe('ruleKey', () => {
  it('contains address, protocol and ports', () => {
    expect(ruleKey({ address: CIDR, protocol: 'tcp', ports: [single(22), { from: 80, to: 90 }] })).toBe(
      '203.0.113.7/32 tcp 22,80-90',
    );
    expect(ruleKey({ address: '2001:db8::/32', protocol: 'all', ports: [] })).toBe('2001:db8::/32 all *');
  });

  it('is equal exactly for equal rules', () => {
    fc.assert(
      fc.property(spec, spec, (one, other) => {
        expect(ruleKey(one) === ruleKey(other)).toBe(JSON.stringify(one) === JSON.stringify(other));
        expect(ruleKey({ ...one, ports: [...one.ports] })).toBe(ruleKey(one));
      }),
      { numRuns: 1000 },
    );
  });
});

describe('ruleSpecs', () => {
  it.each([
    ['every TCP port by default', {}, [{ protocol: 'tcp', ports: [] }]],
    ['one port', { port: 22 }, [{ protocol: 'tcp', ports: [single(22)] }]],
    ['one UDP port', { port: 51_820, protocol: 'udp' }, [{ protocol: 'udp', ports: [single(51_820)] }]],
    ['port 0', { port: 0 }, [{ protocol: 'tcp', ports: [single(0)] }]],
    ['every UDP port', { protocol: 'udp' }, [{ protocol: 'udp', ports: [] }]],
    ['no ports in the list: every port', { ports: [] }, [{ protocol: 'tcp', ports: [] }]],
    ['ICMP has no ports', { protocol: 'icmp', port: 8 }, [{ protocol: 'icmp', ports: [] }]],
    ['every protocol has no ports', { protocol: 'all', ports: [22, 80] }, [{ protocol: 'all', ports: [] }]],
  ] as const)('%s', (_name, config, expected) => {
    const rules = expected.map((rule) => ({ address: CIDR, ...rule }));
    expect(ruleSpecs(CIDR, config, 'one')).toEqual(rules);
    expect(ruleSpecs(CIDR, config, 'many')).toEqual(rules);
  });

  it('returns one rule per port, or one with many ranges, sorted and without duplicates', () => {
    const config = { ports: [443, 22, 443, 100] };
    const sorted = [22, 100, 443].map(single);
    const each = sorted.map((one) => ({ address: CIDR, protocol: 'tcp', ports: [one] }));
    expect(ruleSpecs(CIDR, config, 'one')).toEqual(each);
    expect(ruleSpecs(CIDR, config, 'many')).toEqual([{ address: CIDR, protocol: 'tcp', ports: sorted }]);
    expect(config).toEqual({ ports: [443, 22, 443, 100] });
  });

  it('covers the same ports whatever their order, duplicates and ports per rule', () => {
    const config = fc.record({
      ports: fc.array(port, { minLength: 1, maxLength: 6 }),
      protocol: fc.constantFrom('tcp', 'udp'),
    });
    fc.assert(
      fc.property(config, ({ ports, protocol }) => {
        const one = ruleSpecs(CIDR, { ports, protocol }, 'one');
        const many = ruleSpecs(CIDR, { ports: [...ports, ...ports].toReversed(), protocol }, 'many');
        expect(many).toHaveLength(1);
        expect(one.flatMap((rule) => rule.ports)).toEqual(many[0]?.ports);
        expect(new Set(one.map(ruleKey)).size).toBe(new Set(ports).size);
      }),
    );
  });
});
