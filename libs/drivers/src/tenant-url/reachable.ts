import ipaddr from 'ipaddr.js';
import { isWithin, parseHost } from '#rules';

/** Ranges that a tenant's URL must never reach, regardless of configuration. */
const NEVER: readonly string[] = [
  '0.0.0.0/8', // this host
  '169.254.0.0/16', // link-local, includes most cloud metadata services
  'fe80::/10',
  '224.0.0.0/3', // multicast, reserved, broadcast
  'ff00::/8',
  '::/128',
  // Other metadata addresses: Alibaba, Oracle, Azure, AWS, Google, Oracle, Scaleway.
  '100.100.100.200/32',
  '192.0.0.192/32',
  '168.63.129.16/32',
  'fd00:ec2::/32',
  'fd20:ce::/32',
  'fd00:c1::a9fe:a9fe/128',
  'fd00:42::42/128',
  // IPv6 ranges that embed an IPv4 address: NAT64, 6to4, Teredo, translated, compatible.
  '64:ff9b::/96',
  '64:ff9b:1::/48',
  '2002::/16',
  '2001::/32',
  '::ffff:0:0:0/96',
];
const GLOBAL_IPV6: readonly string[] = ['2000::/3'];

/** Whether an address is forbidden regardless of configuration. True for text that is not an address. */
export function isNeverReachable(address: string): boolean {
  const host = parseHost(address);
  return !host || isWithin(host.text, NEVER);
}

/**
 * Whether a tenant's URL may reach an address: a public one, or one in the networks that the deployment allows; never
 * a link-local address or a cloud's metadata service. An IPv4-mapped address counts as its IPv4 address.
 * @param networks allowed private CIDRs
 */
export function mayReach(address: string, networks: readonly string[]): boolean {
  const host = parseHost(address);
  if (!host || isNeverReachable(host.text)) return false;
  return isPublic(host.text) || isWithin(host.text, networks);
}

function isPublic(text: string): boolean {
  const address = ipaddr.parse(text);
  if (address.range() !== 'unicast') return false;
  return address.kind() === 'ipv4' || isWithin(text, GLOBAL_IPV6);
}
