import { divideSkipped, type FamilyIp } from './status';

describe('divideSkipped', () => {
  const ip = (ipVersion: number, status: FamilyIp['status'], isWrongFamily = false): FamilyIp => ({
    ipVersion,
    status,
    isWrongFamily,
  });

  it('skips an IP version that a target does not hold when it has not failed elsewhere', () => {
    for (const status of ['PENDING', 'APPLIED', 'REMOVING', 'REMOVED'] as const) {
      const refused = ip(6, 'FAILED', true);
      const held = [ip(4, 'APPLIED'), ip(6, status)];
      expect(divideSkipped([refused, ...held])).toEqual({ held, skipped: [refused] });
    }
  });

  it('skips nothing when every resource has failed to hold the IP version', () => {
    const ips = [ip(4, 'APPLIED'), ip(6, 'FAILED', true), ip(6, 'FAILED'), ip(6, 'FAILED', true)];
    expect(divideSkipped(ips)).toEqual({ held: ips, skipped: [] });
  });

  it('skips no other failure', () => {
    const ips = [ip(6, 'APPLIED'), ip(6, 'FAILED')];
    expect(divideSkipped(ips)).toEqual({ held: ips, skipped: [] });
  });
});
