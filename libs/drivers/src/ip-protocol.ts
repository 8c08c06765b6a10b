import type { Protocol } from '#rules';

/**
 * A protocol by its name or number, as clouds spell them.
 * @param version of the addresses it is for: each has an ICMP of its own
 * @returns null when no rule of ours has such a protocol
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
