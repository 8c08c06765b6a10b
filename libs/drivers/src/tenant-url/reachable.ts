import ipaddr from 'ipaddr.js';
import { isWithin, parseHost } from '#rules';

/** What no tenant's URL may lead to, whatever a deployment allows. */
const NEVER: readonly string[] = [
  '0.0.0.0/8', // this very host
  '169.254.0.0/16', // link-local, and with it nearly every cloud's metadata
  'fe80::/10',
  '224.0.0.0/3', // multicast, reserved, broadcast
  'ff00::/8',
  '::/128',
  // Metadata of clouds that put it elsewhere: Alibaba, Oracle, Azure, AWS, Google, Oracle, Scaleway.
  '100.100.100.200/32',
  '192.0.0.192/32',
  '168.63.129.16/32',
  'fd00:ec2::/32',
  'fd20:ce::/32',
  'fd00:c1::a9fe:a9fe/128',
  'fd00:42::42/128',
  // Forms of IPv6 that carry an IPv4 address somewhere else: NAT64, 6to4, Teredo, translated, compatible.
  '64:ff9b::/96',
  '64:ff9b:1::/48',
  '2002::/16',
  '2001::/32',
  '::ffff:0:0:0/96',
];
const GLOBAL_IPV6: readonly string[] = ['2000::/3'];

/** True when no configuration lets a tenant's URL lead to this address. Texts that are no address count as such. */
export function isNeverReachable(address: string): boolean {
  const host = parseHost(address);
  return !host || isWithin(host.text, NEVER);
}

/**
 * Whether a tenant's URL may lead to an address: one of the internet's, or one of the networks that the deployment
 * names; never to a link-local one, nor to a cloud's metadata. An IPv4-mapped address is its IPv4.
 * @param networks CIDRs
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
