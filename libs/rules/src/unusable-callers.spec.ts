import { callerOf } from './client-address';

describe('An address that nothing sends from is unusable', () => {
  const seen = (forwardedFor: string, refuseLocal = false): string | null =>
    callerOf({ peer: '127.0.0.1', forwardedFor, realIp: undefined }, ['127.0.0.1/32'], { refuseLocal })
      .unusable;

  it.each(['240.1.2.3', '255.255.255.255', '64:ff9b::1', '64:ff9b:1::1', '224.0.0.1', '0.0.0.0', '::'])(
    '%s',
    (address) => {
      expect(seen(address)).toBe(address);
    },
  );

  it.each(['127.0.0.2', '::1', '169.254.1.1', 'fe80::1'])('%s, where real clouds are used', (address) => {
    expect([seen(address), seen(address, true)]).toEqual([null, address]);
  });

  it('a private one is usable, and a header is quoted up to its hundredth character', () => {
    expect(seen('10.0.0.7', true)).toBeNull();
    expect(seen('x'.repeat(1000))).toHaveLength(100);
  });
});
