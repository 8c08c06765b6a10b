import { ForbiddenHost, TenantHosts } from './tenant-hosts';
import { tenantNetworks } from './tenant-networks';

const read = (TENANT_URL_NETWORKS: string): object[] => tenantNetworks({ TENANT_URL_NETWORKS });

describe('TENANT_URL_NETWORKS', () => {
  it('is an empty list when it is not set', () => {
    expect(tenantNetworks({})).toEqual([]);
    expect(read(' , ')).toEqual([]);
  });

  it('accepts addresses and CIDR ranges', () => {
    expect(read('10.1.2.3/8, ::1')).toEqual([
      { cidr: '10.0.0.0/8', port: null },
      { cidr: '::1/128', port: null },
    ]);
  });

  it('accepts an address with a port', () => {
    expect(read('127.0.0.1:4666,[::1]:4666')).toEqual([
      { cidr: '127.0.0.1/32', port: 4666 },
      { cidr: '::1/128', port: 4666 },
    ]);
  });

  it.each([
    'all',
    '10.0.0.0/33',
    'localhost',
    'localhost:80',
    '10.0.0.0/8;::1',
    '127.0.0.1:0',
    '127.0.0.1:65536',
    '[::1]',
    '10.0.0.0/8:80',
  ])('rejects %s', (text) => {
    expect(() => read(text)).toThrow(/TENANT_URL_NETWORKS must be/);
  });
});

describe('A tenant network with a port', () => {
  const hosts = new TenantHosts(tenantNetworks({ TENANT_URL_NETWORKS: '127.0.0.1:4666,[::1]:4666' }));
  const signal = AbortSignal.timeout(5000);

  it.each(['127.0.0.1', '::1', 'localhost'])('allows %s on that port', async (host) => {
    await expect(hosts.addresses(host, 4666, signal)).resolves.not.toHaveLength(0);
  });

  it.each(['127.0.0.1', '::1', 'localhost'])('forbids other ports of %s', async (host) => {
    await expect(hosts.addresses(host, 5432, signal)).rejects.toThrow(ForbiddenHost);
  });

  it('forbids other loopback addresses', async () => {
    await expect(hosts.addresses('127.0.0.2', 4666, signal)).rejects.toThrow(ForbiddenHost);
  });
});
