import { isIP, isIPv4, isIPv6 } from 'node:net';
import { bareAddress, readAddressOrCidr } from '../cidr';
import { invalid } from './admin-error';
import { isObject, type Json, type JsonObject } from './merge';

const PLUGIN = 'ip-restriction';
const LISTS = ['whitelist', 'blacklist'] as const;
const IPV6_RANGE = /^([a-fA-F0-9]{0,4}:){1,8}(:[a-fA-F0-9]{0,4}){0,8}([a-fA-F0-9]{0,4})?\/[0-9]{1,3}$/;
const EVERYONE = ['0.0.0.0/0', '::/0'];
/** An address that no packet can have as its source. */
const NO_ADDRESS = '0.0.0.0/32';

/** Validates an object as the gateway does before a write. @throws CloudError */
export function checkPlugins({ plugins = {} }: JsonObject): void {
  if (!isObject(plugins))
    throw invalid(
      'invalid configuration: property "plugins" validation failed: wrong type: expected object, got array',
    );
  const plugin = plugins[PLUGIN];
  if (plugin === undefined) return;
  const problem = problemOf(plugin);
  if (problem !== null)
    throw invalid(`failed to check the configuration of plugin ${PLUGIN} err: ${problem}`);
}

function problemOf(plugin: Json): string | null {
  if (!isObject(plugin)) return `wrong type: expected object, got ${luaType(plugin)}`;
  for (const name of LISTS) {
    const list = plugin[name];
    if (list === undefined) continue;
    const field = `property "${name}" validation failed:`;
    if (!Array.isArray(list)) return `${field} wrong type: expected array, got ${luaType(list)}`;
    if (list.length === 0) return `${field} expect array to have at least 1 items`;
    const wrong = list.findIndex((entry) => !isEntry(entry));
    if (wrong >= 0)
      return `${field} failed to validate item ${wrong + 1}: object matches none of the required`;
  }
  const { message, response_code: code } = plugin;
  if (message !== undefined && (typeof message !== 'string' || message.length < 1 || message.length > 1024))
    return 'property "message" validation failed: string too long, expected at most 1024';
  if (code !== undefined && code !== 403 && code !== 404)
    return 'property "response_code" validation failed: expected integer between 403 and 404';
  const lists = LISTS.filter((name) => plugin[name] !== undefined).length;
  if (lists === 2) return 'value should match only one schema, but matches both schemas 1 and 2';
  return lists === 0 ? 'value should match only one schema, but matches none' : null;
}

/** IPv4 or IPv6, bare or with a prefix length; host bits may be set. */
function isEntry(entry: Json): boolean {
  if (typeof entry !== 'string') return false;
  if (isIP(entry) !== 0) return !entry.includes('%');
  const [address = '', prefix = ''] = entry.split('/');
  if (isIPv4(address)) return /^([12]?\d|3[0-2])$/.test(prefix);
  return IPV6_RANGE.test(entry) && isIPv6(address);
}

const luaType = (value: Json): string =>
  value === null ? 'userdata' : typeof value === 'object' ? 'table' : typeof value;

/** An entry of a whitelist, and the address that it allows. */
export interface AllowedSource {
  /** as spelled in the list; the address itself without a list */
  readonly entry: string;
  /** a single address bare, a range as canonical CIDR */
  readonly address: string;
}

/** The entries of an object's whitelist, as spelled. */
export function whitelistOf({ plugins }: JsonObject): string[] {
  const plugin = isObject(plugins) ? plugins[PLUGIN] : undefined;
  const list = isObject(plugin) ? plugin.whitelist : undefined;
  return Array.isArray(list) ? list.filter((entry) => typeof entry === 'string') : [];
}

/** A copy of the object with another whitelist. */
export const withWhitelist = (value: JsonObject, whitelist: readonly string[]): JsonObject => {
  const plugins = isObject(value.plugins) ? value.plugins : {};
  const plugin = isObject(plugins[PLUGIN]) ? plugins[PLUGIN] : {};
  return { ...value, plugins: { ...plugins, [PLUGIN]: { ...plugin, whitelist: [...whitelist] } } };
};

/** The addresses that an object allows: all of them without a whitelist that is asked for every request. */
export function allowedSources(value: JsonObject): AllowedSource[] {
  const plugin = isObject(value.plugins) ? value.plugins[PLUGIN] : undefined;
  const { _meta: meta, disable } = isObject(plugin) ? plugin : {};
  const isOff = disable === true || (isObject(meta) && (meta.disable === true || meta.filter !== undefined));
  const list = whitelistOf(value);
  if (list.length === 0 || isOff) return EVERYONE.map((address) => ({ entry: address, address }));
  return [...new Set(list)].flatMap((entry) => {
    const cidr = readAddressOrCidr(entry);
    return cidr && cidr.text !== NO_ADDRESS ? [{ entry, address: bareAddress(cidr.text) }] : [];
  });
}
