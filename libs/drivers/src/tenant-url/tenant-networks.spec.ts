import { ForbiddenHost, TenantHosts } from './tenant-hosts';
import { tenantNetworks } from './tenant-networks';

const read = (TENANT_URL_NETWORKS: string): object[] => tenantNetworks({ TENANT_URL_NETWORKS });

describe('TENANT_URL_NETWORKS', () => {
  it('is none when left out', () => {
    expect(tenantNetworks({})).toEqual([]);
    expect(read(' , ')).toEqual([]);
  });

  it('takes addresses and ranges', () => {
    expect(read('10.1.2.3/8, ::1')).toEqual([
      { cidr: '10.0.0.0/8', port: null },
      { cidr: '::1/128', port: null },
    ]);
  });

  it('takes an address with the one port that may be reached', () => {
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
  ])('refuses %s', (text) => {
    expect(() => read(text)).toThrow(/TENANT_URL_NETWORKS must be/);
  });
});

describe('a network with a port', () => {
  const hosts = new TenantHosts(tenantNetworks({ TENANT_URL_NETWORKS: '127.0.0.1:4666,[::1]:4666' }));
  const signal = AbortSignal.timeout(5000);

  it.each(['127.0.0.1', '::1', 'localhost'])('lets %s be reached at that port', async (host) => {
    await expect(hosts.addresses(host, 4666, signal)).resolves.not.toHaveLength(0);
  });

  it.each(['127.0.0.1', '::1', 'localhost'])('keeps the other ports of %s out of reach', async (host) => {
    await expect(hosts.addresses(host, 5432, signal)).rejects.toThrow(ForbiddenHost);
  });

  it('keeps the rest of loopback out of reach', async () => {
    await expect(hosts.addresses('127.0.0.2', 4666, signal)).rejects.toThrow(ForbiddenHost);
  });
});
