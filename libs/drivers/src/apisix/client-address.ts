import { canonicalCidr, isEverybody } from '#rules';
import { isRecord } from '../untrusted-json';
import { readField } from './admin-api';

type Plugin = Readonly<Record<string, unknown>>;

/** Sources of `real-ip` that no client chooses. */
const CONNECTION = new Set(['remote_addr', 'realip_remote_addr']);
/** Sources that a proxy may set, and that are believed from proxies alone. */
const SET_BY_PROXIES = /^(http_|proxy_protocol_addr$)/;
/** Plugins that run code of the gateway's owner. */
const FUNCTIONS = ['serverless-pre-function', 'serverless-post-function'];
/** In such code: the client's address is set, or decided by. */
const NAMES_ADDRESS = /set_real_ip|remote_addr/;

/**
 * Why a plugin of an object gives a request another address than that of its connection or of a proxy that is trusted, before the
 * list of addresses is asked; null: none does.
 * @param name of the object, for the message
 */
export function misleading(name: string, value: Readonly<Record<string, unknown>>): string | null {
  const { plugins, script } = value;
  const realIp = readField(plugins, 'real-ip');
  if (isRecord(realIp) && !isOff(realIp) && !isSafe(realIp))
    return `The plugin real-ip of ${name} takes the address from ${String(realIp.source)} of clients, so that they name it themselves: give it a header as source and the addresses of your proxies as trusted_addresses, or take it out`;
  const code = [script, ...FUNCTIONS.map((plugin) => functionsOf(readField(plugins, plugin)))];
  return code.some((text) => typeof text === 'string' && NAMES_ADDRESS.test(text))
    ? `A function of ${name} may give requests another address before the list is asked: take it out`
    : null;
}

function isSafe({ source, trusted_addresses: trusted }: Plugin): boolean {
  if (typeof source !== 'string') return false;
  if (CONNECTION.has(source)) return true;
  if (!SET_BY_PROXIES.test(source) || !Array.isArray(trusted) || trusted.length === 0) return false;
  const ranges = trusted.map((range) => (typeof range === 'string' ? canonicalCidr(range)?.cidr : undefined));
  const known = ranges.filter((range) => range !== undefined);
  return (
    known.length === ranges.length &&
    !isEverybody(ofVersion(known, 4), 4) &&
    !isEverybody(ofVersion(known, 6), 6)
  );
}

const ofVersion = (ranges: readonly string[], version: 4 | 6): string[] =>
  ranges.filter((range) => range.includes(':') === (version === 6));

/** APISIX 2.x has `disable` in the plugin itself. */
const isOff = ({ disable, _meta: meta }: Plugin): boolean =>
  disable === true || (isRecord(meta) && meta.disable === true);

const functionsOf = (plugin: unknown): string | undefined =>
  isRecord(plugin) && !isOff(plugin) ? JSON.stringify(plugin.functions) : undefined;
