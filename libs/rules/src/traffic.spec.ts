import {
  containsPort,
  difference,
  intersection,
  listedInBoth,
  trafficOf,
  trafficText,
  unionOf,
  withoutCovered,
  withoutOverlap,
  type Traffic,
} from './traffic';

const tcp = (...ports: number[]): Traffic => ({ protocol: 'tcp', ports });
const udp = (...ports: number[]): Traffic => ({ protocol: 'udp', ports });
const ALL: Traffic = { protocol: 'all', ports: [] };

describe('traffic', () => {
  it('of a config has ascending ports, and none for a whole protocol', () => {
    expect(trafficOf({ ports: [443, 22, 22] })).toEqual([tcp(22, 443)]);
    expect(trafficOf({ protocol: 'icmp', port: 8 })).toEqual([{ protocol: 'icmp', ports: [] }]);
    expect(trafficOf({})).toEqual([tcp()]);
  });

  it('has one canonical order, with a whole protocol beside its ports', () => {
    const union = [tcp(), tcp(22, 443), udp(53)];
    expect(unionOf([udp(53), tcp(443)], [tcp(22), tcp(443)], [tcp()])).toEqual(union);
    expect(unionOf([tcp(443, 22), tcp(), udp(53, 53)])).toEqual(union);
  });

  it('is compared in the same words, where a whole protocol is not its ports', () => {
    expect(difference([tcp(22, 80), tcp()], [tcp(22)])).toEqual([tcp(), tcp(80)]);
    expect(difference([tcp(22)], [tcp()])).toEqual([tcp(22)]);
    expect(listedInBoth([tcp(22, 80), tcp()], [tcp(22), udp()])).toEqual([tcp(22)]);
  });

  it.each([
    ['a port of several', [tcp(22, 80)], [tcp(80)], [tcp(22)], [tcp(22)], [tcp(80)]],
    ['a port of a whole protocol', [tcp(22)], [tcp()], [], [], [tcp(22)]],
    ['a whole protocol and one of its ports', [tcp()], [tcp(22)], [tcp()], [], [tcp(22)]],
    ['a port and all protocols', [tcp(22), udp()], [ALL], [], [], [tcp(22), udp()]],
    ['all protocols and a port', [ALL], [tcp(22)], [ALL], [], [tcp(22)]],
    ['another protocol', [tcp(53)], [udp(53)], [tcp(53)], [tcp(53)], []],
  ])(
    '%s: what is not covered, what does not overlap, and what both contain',
    (_, one, other, ...expected) => {
      expect([withoutCovered(one, other), withoutOverlap(one, other), intersection(one, other)]).toEqual(
        expected,
      );
    },
  );

  it('contains the ports of a whole protocol', () => {
    expect([containsPort([tcp()], 'tcp', 1), containsPort([ALL], 'udp', 1)]).toEqual([true, true]);
    expect([containsPort([tcp(22)], 'tcp', 23), containsPort([tcp()], 'udp', 1)]).toEqual([false, false]);
  });

  it('is written out for messages', () => {
    expect(trafficText([tcp(22, 443), udp()])).toBe('tcp 22, 443 and udp');
  });
});
