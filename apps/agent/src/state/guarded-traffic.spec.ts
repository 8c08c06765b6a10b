import { unionOf, without } from './guarded-traffic';
import type { Traffic } from './host-state';

const tcp = (...ports: number[]): Traffic => ({ protocol: 'tcp', ports });
const ICMP: Traffic = { protocol: 'icmp', ports: [] };

describe('Guarded traffic', () => {
  it('is united by protocol and port', () => {
    expect(unionOf([tcp(22, 80), ICMP], [tcp(80, 443)])).toEqual([ICMP, tcp(22, 80, 443)]);
    expect(unionOf([], [tcp()])).toEqual([tcp()]);
  });

  it('keeps all of a protocol beside its ports: releasing one leaves the other', () => {
    const both = unionOf([tcp()], [tcp(22)]);
    expect(without(both, [tcp(22)])).toEqual([tcp()]);
    expect(without(both, [tcp()])).toEqual([tcp(22)]);
  });

  it('without what is named', () => {
    expect(without([tcp(22, 80), ICMP], [tcp(22), ICMP])).toEqual([tcp(80)]);
    expect(without([tcp(22)], [tcp(23)])).toEqual([tcp(22)]);
  });
});
