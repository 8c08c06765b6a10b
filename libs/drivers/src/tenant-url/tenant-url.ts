import { isIP } from 'node:net';
import { isNeverReachable } from './reachable';

/** A parsed URL that a tenant configured. */
export interface TenantUrl {
  readonly isSecure: boolean;
  /** a name in lower case, or an address without brackets */
  readonly hostname: string;
  readonly port: number;
  /** starts with a slash unless empty; of a base, without a trailing slash */
  readonly path: string;
  /** the canonical URL */
  readonly text: string;
}

/** The URL parser takes quadratic time for long non-ASCII host names. */
const MAX_LENGTH = 2048;
const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 };

/** `base`: paths are appended to it. `whole`: it is called as it is, with its query, which is part of its path here. */
export type TenantUrlForm = 'base' | 'whole';

/** The rest are characters that the URL parser would drop or convert. */
const FORMS: Readonly<Record<TenantUrlForm, RegExp>> = {
  base: /^https?:\/\/[^/?#\\\s][^?#\\\s]*$/i,
  whole: /^https?:\/\/[^/?#\\\s][^#\\\s]*$/i,
};

/** Parses a tenant's URL into its canonical form. @returns null when it is not allowed */
export function readTenantUrl(text: string, form: TenantUrlForm = 'base'): TenantUrl | null {
  if (text.length > MAX_LENGTH) return null;
  if (!FORMS[form].test(text) || !URL.canParse(text)) return null;
  const url = new URL(text);
  const defaultPort = DEFAULT_PORTS[url.protocol];
  if (!defaultPort) return null;
  // They could expose secrets in messages or make the URL misleading.
  if (url.username || url.password || url.hash) return null;
  const hostname = url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  if (hostname === '') return null;
  const path = form === 'whole' ? url.pathname + url.search : url.pathname.replace(/(?<!\/)\/+$/, '');
  return {
    isSecure: url.protocol === 'https:',
    hostname,
    port: url.port === '' ? defaultPort : Number(url.port),
    path,
    text: `${url.protocol}//${url.host.replace(/\.(?=:\d+$|$)/, '')}${path}`,
  };
}

/** Why a URL is rejected, follows the field's name; null: its text is valid, its host is not resolved here. */
export function tenantUrlRefusal(text: string, form: TenantUrlForm = 'base'): string | null {
  if (text.length > MAX_LENGTH) return `must be at most ${MAX_LENGTH} characters`;
  const url = readTenantUrl(text, form);
  if (!url)
    return `must be an http or https address without user${form === 'base' ? ', query' : ''} or fragment`;
  if (isIP(url.hostname) !== 0 && isNeverReachable(url.hostname))
    return 'must not lead to a link-local, metadata or reserved address';
  return null;
}
