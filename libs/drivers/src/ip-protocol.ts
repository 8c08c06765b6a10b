import type { Protocol } from '#rules';

/**
 * Parses a protocol name or number.
 * @param version IP version: IPv4 and IPv6 have different ICMP protocols
 * @returns null for a protocol that our rules do not support
 */
export function protocolOf(text: string, version: 4 | 6): Exclude<Protocol, 'all'> | null {
  switch (text.toLowerCase()) {
    case 'tcp':
    case '6':
      return 'tcp';
    case 'udp':
    case '17':
      return 'udp';
    case 'icmp':
    case '1':
      return version === 4 ? 'icmp' : null;
    case 'icmpv6':
    case 'ipv6-icmp':
    case '58':
      return version === 6 ? 'icmp' : null;
    default:
      return null;
  }
}
