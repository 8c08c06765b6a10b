import type { Protocol, Traffic } from '#rules';
import type { DesiredRule } from '../state/host-state';
import { desiredRule } from '../state/host-state.testing';
import { guardElements, ruleElements, trafficIn } from './elements';

const of = (protocol: Protocol, ...ports: number[]): Traffic => ({ protocol, ports });
let rules = 0;
const rule = (cidr: string, protocol: Protocol, ports: number[], deadline = Infinity): DesiredRule =>
  desiredRule(`rule-${(rules += 1)}`, { cidr, protocol, ports, deadline });

describe('Guard elements', () => {
  it.each([
    ['ports', [of('tcp', 22), of('tcp', 443)], ['guarded_ports 6 . 22', 'guarded_ports 6 . 443']],
    ['a whole protocol', [of('udp')], ['guarded_protocols 17']],
    ['icmp, which is two protocols', [of('icmp')], ['guarded_protocols 1', 'guarded_protocols 58']],
    ['everything', [of('all')], ['guarded_families 2', 'guarded_families 10']],
  ])('for %s', (_, guarded, keys) => {
    expect([...guardElements(guarded, [])]).toEqual(keys.map((key) => [key, Infinity]));
    expect(trafficIn(keys)).toEqual(guarded);
    const exempt = keys.map((key) => key.replace('guarded_', 'exempt_'));
    expect([...guardElements([], guarded).keys()]).toEqual(exempt);
  });
});

describe('Rule elements', () => {
  it.each([
    [
      '203.0.113.7/32',
      'tcp',
      [22, 53],
      ['host4_port 203.0.113.7 . 6 . 22', 'host4_port 203.0.113.7 . 6 . 53'],
    ],
    ['2001:db8::7/128', 'udp', [53], ['host6_port 2001:db8::7 . 17 . 53']],
    ['203.0.113.7/32', 'tcp', [], ['host4_protocol 203.0.113.7 . 6']],
    ['203.0.113.7/32', 'icmp', [], ['host4_protocol 203.0.113.7 . 1']],
    ['2001:db8::7/128', 'icmp', [], ['host6_protocol 2001:db8::7 . 58']],
    ['203.0.113.7/32', 'all', [], ['host4_any 203.0.113.7']],
    ['198.51.100.0/24', 'tcp', [22], ['net4_port 198.51.100.0-198.51.100.255 . 6 . 22']],
    ['2001:db8::/112', 'all', [], ['net6_any 2001:db8::-2001:db8::ffff']],
  ] as const)('for %s %s %j', (cidr, protocol, ports, keys) => {
    const desired = rule(cidr, protocol, [...ports]);
    const { elements, keysOf } = ruleElements([desired], 0);
    expect([...elements.keys()]).toEqual(keys);
    expect(keysOf.get(desired.id)).toEqual(keys);
  });

  it('shared by two rules have the later deadline', () => {
    const { elements } = ruleElements(
      [rule('10.0.0.1/32', 'tcp', [22], 9), rule('10.0.0.1/32', 'tcp', [22, 80], 5)],
      0,
    );
    expect([...elements]).toEqual([
      ['host4_port 10.0.0.1 . 6 . 22', 9],
      ['host4_port 10.0.0.1 . 6 . 80', 5],
    ]);
  });

  it('leave expired rules out, without keys', () => {
    const expired = rule('10.0.0.1/32', 'tcp', [22], 5);
    const { elements, keysOf } = ruleElements([expired], 5);
    expect([elements.size, keysOf.has(expired.id)]).toEqual([0, false]);
  });

  it('split overlapping ranges on the same port only; the enclosing one has all of its pieces', () => {
    const outer = rule('10.0.0.0/30', 'tcp', [22, 80], 3);
    const { elements, keysOf } = ruleElements([rule('10.0.0.0/31', 'tcp', [22], 5), outer], 0);
    expect(keysOf.get(outer.id)).toHaveLength(3);
    expect([...elements]).toEqual([
      ['net4_port 10.0.0.0-10.0.0.1 . 6 . 22', 5],
      ['net4_port 10.0.0.2-10.0.0.3 . 6 . 22', 3],
      ['net4_port 10.0.0.0-10.0.0.3 . 6 . 80', 3],
    ]);
  });
});
