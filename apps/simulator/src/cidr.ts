import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

export interface Cidr {
  readonly version: 4 | 6;
  /** canonical, host bits cleared */
  readonly text: string;
}

/** Parses an address with a prefix length, clearing host bits as AWS does. @returns null when it is invalid */
export function readCidr(text: string): Cidr | null {
  const [address = '', prefix = '', ...rest] = text.split('/');
  const version = isIP(address);
  if ((version !== 4 && version !== 6) || address.includes('%') || rest.length > 0) return null;
  if (!/^(0|[1-9]\d{0,2})$/.test(prefix) || Number(prefix) > (version === 4 ? 32 : 128)) return null;
  const family = version === 4 ? ipaddr.IPv4 : ipaddr.IPv6;
  const network = family.networkAddressFromCIDR(`${address}/${prefix}`);
  const networkText = network instanceof ipaddr.IPv6 ? network.toRFC5952String() : network.toString();
  return { version, text: `${networkText}/${prefix}` };
}

/** Parses an address or a CIDR; a bare address becomes a /32 or /128. @returns null when it is neither */
export function readAddressOrCidr(text: string): Cidr | null {
  const version = isIP(text);
  return readCidr(version === 0 ? text : `${text}/${version === 4 ? 32 : 128}`);
}

/** Removes a /32 or /128 prefix length; other networks are unchanged. */
export const bareAddress = (cidr: string): string =>
  cidr.replace(cidr.includes(':') ? /\/128$/ : /\/32$/, '');
