import { addressText } from '#rules';
import { fields } from '../state/host-state';
import { addressValue, bounds, familyOf } from './address-span';

/** The table as nft lists it. */
export interface Listing {
  /** sets, chains and rules, without handles, counters and elements */
  readonly structure: string;
  /** whole seconds until each element expires; Infinity: no end */
  readonly secondsLeft: ReadonlyMap<string, number>;
  /** packets dropped since the table was created */
  readonly dropped: number;
}

const VARIABLE: ReadonlySet<string> = new Set(['handle', 'elem', 'packets', 'bytes']);

/** @param json of `nft --json --numeric list table` @throws Error when it is not a listing */
export function readListing(json: string): Listing {
  const { nftables } = fields(JSON.parse(json));
  if (!Array.isArray(nftables)) throw new Error('nft --json printed something else than a listing');
  const parts = nftables.filter((part: unknown) => !('metainfo' in fields(part)));
  const sets = parts.map((part: unknown) => fields(fields(part)['set'])).filter(({ elem }) => elem);
  return {
    structure: JSON.stringify(parts.map((part: unknown) => normalized(part))),
    secondsLeft: new Map(
      sets.flatMap(({ name, elem }) => listed(elem).map((one) => element(String(name), one))),
    ),
    dropped: Number(/"packets": ?(\d+)/.exec(json)?.[1] ?? 0),
  };
}

/** Removes variable fields, and sorts anonymous sets, which nft lists in any order. */
function normalized(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(normalized);
  if (typeof part !== 'object' || part === null) return part;
  return Object.fromEntries(
    Object.entries(part)
      .filter(([key]) => !VARIABLE.has(key))
      .map(([key, value]) => [
        key,
        key === 'set' && Array.isArray(value) ? value.map(String).sort() : normalized(value),
      ]),
  );
}

const listed = (elem: unknown): unknown[] => (Array.isArray(elem) ? elem : []);

function element(set: string, listedAs: unknown): [string, number] {
  const { elem } = fields(listedAs);
  const { val, timeout, expires } = fields(elem);
  const value = elem === undefined ? listedAs : val;
  const { concat } = fields(value);
  const parts = (Array.isArray(concat) ? concat : [value]).map((part, index) => keyPart(set, part, index));
  return [`${set} ${parts.join(' . ')}`, timeout === undefined ? Infinity : Number(expires ?? 0)];
}

/** Whether the set holds traffic, and not addresses. */
export const isTrafficSet = (set: string): boolean => /^(guarded|exempt)_/.test(set);

/** One field of an element's key, in the form that `ruleElements` writes. */
function keyPart(set: string, part: unknown, index: number): string {
  if (index > 0 || isTrafficSet(set)) return String(part);
  if (!set.startsWith('net')) return canonical(String(part));
  const { prefix, range } = fields(part);
  if (Array.isArray(range)) return range.map((end) => canonical(String(end))).join('-');
  const { addr, len } = fields(prefix);
  if (typeof addr !== 'string') return `${canonical(String(part))}-${canonical(String(part))}`;
  const { first, last } = bounds(`${addr}/${Number(len)}`);
  const family = familyOf(addr);
  return `${addressText(first, family)}-${addressText(last, family)}`;
}

/** IPv4 addresses have a single notation. */
const canonical = (address: string): string =>
  address.includes(':') ? addressText(addressValue(address), 6) : address;
