import { mayReach } from './reachable';
import { tenantNetworks } from './tenant-networks';

const cidrsOf = (TENANT_URL_NETWORKS: string): string[] =>
  tenantNetworks({ TENANT_URL_NETWORKS }).map(({ cidr }) => cidr);

const EVERYTHING_PRIVATE = cidrsOf(
  '0.0.0.0/8,10.0.0.0/8,100.64.0.0/10,127.0.0.0/8,169.254.0.0/16,172.16.0.0/12,192.168.0.0/16,::1,fc00::/7,fe80::/10',
);

/** First, last and middle addresses of each private range. */
const PRIVATE = [
  ['127.0.0.0', '127.0.0.1', '127.255.255.255'],
  ['10.0.0.0', '10.1.2.3', '10.255.255.255'],
  ['172.16.0.0', '172.20.1.1', '172.31.255.255'],
  ['192.168.0.0', '192.168.1.1', '192.168.255.255'],
  ['100.64.0.0', '100.100.1.1', '100.127.255.255'],
  ['::1', '0:0:0:0:0:0:0:1', '::0001'],
  ['fc00::', 'fd12:3456::1', 'fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['::ffff:10.0.0.1', '::ffff:127.0.0.1', '::ffff:c0a8:101'],
].flat();

const NEVER = [
  ['0.0.0.0', '0.0.0.1', '0.255.255.255', '::ffff:0.0.0.0', '::'],
  ['169.254.0.0', '169.254.169.254', '169.254.170.2', '169.254.255.255', '::ffff:169.254.169.254'],
  ['::ffff:a9fe:a9fe', '0:0:0:0:0:ffff:a9fe:a9fe', '0000:0000:0000:0000:0000:FFFF:A9FE:A9FE'],
  ['fe80::', 'fe80::1', 'fe80::a9fe:a9fe', 'febf:ffff::1', 'FE80::1'],
  ['100.100.100.200', '192.0.0.192', '168.63.129.16', '::ffff:168.63.129.16'],
  ['fd00:ec2::254', 'FD00:0EC2::254', 'fd20:ce::254', 'fd00:c1::a9fe:a9fe', 'fd00:42::42'],
  ['224.0.0.1', '239.255.255.250', '240.0.0.1', '255.255.255.255', 'ff02::1', 'ff0e::1'],
  ['64:ff9b::a9fe:a9fe', '64:ff9b::7f00:1', '64:ff9b::808:808', '64:ff9b:1::1'],
  ['2002:a9fe:a9fe::1', '2002:7f00:1::', '2001::1', '2001:0:4136:e378:8000:63bf:3fff:fdd2'],
  ['::ffff:0:a9fe:a9fe', '::ffff:0:7f00:1'],
].flat();

const INVALID_ADDRESSES = [
  [
    '',
    'localhost',
    'gateway.example.com',
    '169.254.169.254/32',
    '010.0.0.1',
    '0x7f.1',
    '127.1',
    '2130706433',
  ],
  ['fe80::1%eth0', '[::1]', '1.2.3.4:80', ' 8.8.8.8', '8.8.8.8 '],
].flat();

/** Neither public nor private: documentation, benchmarking and reserved ranges. */
const RESERVED = [
  ['192.0.2.1', '198.51.100.1', '203.0.113.7', '198.18.0.1', '198.19.255.255', '192.0.0.1', '192.88.99.1'],
  [
    '2001:db8::1',
    '3fff::1',
    'fec0::1',
    '::1.2.3.4',
    '::7f00:1',
    '100::1',
    '4000::1',
    'e000::1',
    '2001:10::1',
  ],
].flat();

const PUBLIC = [
  ['1.1.1.1', '8.8.8.8', '9.255.255.255', '11.0.0.0', '100.63.255.255', '100.128.0.0', '126.255.255.255'],
  ['128.0.0.0', '169.253.255.255', '169.255.0.0', '172.15.255.255', '172.32.0.0', '192.167.255.255'],
  ['192.169.0.0', '223.255.255.255', '::ffff:8.8.8.8', '2606:4700:4700::1111', '2a00:1450::1', '2000::1'],
].flat();

describe('Addresses that a tenant URL may reach', () => {
  it.each(PUBLIC)('allows the public address %s', (address) => {
    expect(mayReach(address, [])).toBe(true);
  });

  it.each(PRIVATE)('allows the private address %s only when the deployment allows its network', (address) => {
    expect(mayReach(address, [])).toBe(false);
    expect(mayReach(address, EVERYTHING_PRIVATE)).toBe(true);
  });

  it.each(NEVER)('never allows %s, regardless of the configuration', (address) => {
    expect(mayReach(address, EVERYTHING_PRIVATE)).toBe(false);
    expect(mayReach(address, ['0.0.0.0/0', '::/0'])).toBe(false);
  });

  it.each([...RESERVED, ...INVALID_ADDRESSES])('rejects %j, which is not a reachable address', (address) => {
    expect(mayReach(address, EVERYTHING_PRIVATE)).toBe(false);
  });

  it('allows only the configured private networks', () => {
    const networks = cidrsOf('10.20.0.0/16, fd12::/32');
    expect(['10.20.1.1', '10.21.1.1', 'fd12::1', 'fd13::1'].map((one) => mayReach(one, networks))).toEqual([
      true,
      false,
      true,
      false,
    ]);
  });
});
