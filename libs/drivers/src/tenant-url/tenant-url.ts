import { isIP } from 'node:net';
import { isNeverReachable } from './reachable';

/** Where a tenant says that something of theirs is. */
export interface TenantUrl {
  readonly isSecure: boolean;
  /** a name in lower case, or an address without brackets */
  readonly hostname: string;
  readonly port: number;
  /** begins with a slash unless it is empty, and ends in none */
  readonly path: string;
  /** the whole of it, in one spelling */
  readonly text: string;
}

/** Of a long host name with letters beyond ASCII, the URL parser takes quadratic time. */
const MAX_LENGTH = 2048;
const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 };

/** Reads a tenant's URL, however host and port are spelled. @returns null when it is none that may be taken */
export function readTenantUrl(text: string): TenantUrl | null {
  if (text.length > MAX_LENGTH) return null;
  // what the parser would drop or turn round is not taken
  if (!/^https?:\/\/[^/?#\\\s][^?#\\\s]*$/i.test(text) || !URL.canParse(text)) return null;
  const url = new URL(text);
  const defaultPort = DEFAULT_PORTS[url.protocol];
  if (!defaultPort) return null;
  // They would carry secrets into what is shown, or mean another place than they seem to.
  if (url.username || url.password || url.search || url.hash) return null;
  const hostname = url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  if (hostname === '') return null;
  const path = url.pathname.replace(/(?<!\/)\/+$/, '');
  return {
    isSecure: url.protocol === 'https:',
    hostname,
    port: url.port === '' ? defaultPort : Number(url.port),
    path,
    text: `${url.protocol}//${url.host.replace(/\.(?=:\d+$|$)/, '')}${path}`,
  };
}

/** Why a URL cannot be a tenant's, to follow the field's name; null when it can, as far as its text tells. */
export function tenantUrlRefusal(text: string): string | null {
  if (text.length > MAX_LENGTH) return `must be at most ${MAX_LENGTH} characters`;
  const url = readTenantUrl(text);
  if (!url) return 'must be an http or https address without user, query or fragment';
  if (isIP(url.hostname) !== 0 && isNeverReachable(url.hostname))
    return 'must not lead to a link-local, metadata or reserved address';
  return null;
}
