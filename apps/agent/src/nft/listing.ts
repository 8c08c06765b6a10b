import { fields } from '../state/host-state';
import { addressText, addressValue, bounds, familyOf } from './address-span';

/** What nft says of the table. */
export interface Listing {
  /** sets, chains and rules, without what changes by itself */
  readonly structure: string;
  /** how many whole seconds each element has left; Infinity: it has no end */
  readonly secondsLeft: ReadonlyMap<string, number>;
  /** packets that were turned away since the table was made */
  readonly dropped: number;
}

const VARIABLE: ReadonlySet<string> = new Set(['handle', 'elem', 'packets', 'bytes']);

/** @param json of `nft --json --numeric list table` @throws Error when it is none */
export function readListing(json: string): Listing {
  const { nftables } = fields(JSON.parse(json));
  if (!Array.isArray(nftables)) throw new Error('nft --json answered something else than a listing');
  const parts = nftables.filter((part: unknown) => !('metainfo' in fields(part)));
  const sets = parts.map((part: unknown) => fields(fields(part)['set'])).filter(({ elem }) => elem);
  return {
    structure: JSON.stringify(parts.map((part: unknown) => stable(part))),
    secondsLeft: new Map(
      sets.flatMap(({ name, elem }) => listed(elem).map((one) => element(String(name), one))),
    ),
    dropped: Number(/"packets": ?(\d+)/.exec(json)?.[1] ?? 0),
  };
}

/** Without what changes by itself; an anonymous set of a rule is listed in any order. */
function stable(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(stable);
  if (typeof part !== 'object' || part === null) return part;
  return Object.fromEntries(
    Object.entries(part)
      .filter(([key]) => !VARIABLE.has(key))
      .map(([key, value]) => [
        key,
        key === 'set' && Array.isArray(value) ? value.map(String).sort() : stable(value),
      ]),
  );
}

const listed = (elem: unknown): unknown[] => (Array.isArray(elem) ? elem : []);

function element(set: string, listedAs: unknown): [string, number] {
  const { elem } = fields(listedAs);
  const { val, timeout, expires } = fields(elem);
  const value = elem === undefined ? listedAs : val;
  const { concat } = fields(value);
  const words = (Array.isArray(concat) ? concat : [value]).map((word, index) => wordOf(set, word, index));
  return [`${set} ${words.join(' . ')}`, timeout === undefined ? Infinity : Number(expires ?? 0)];
}

function wordOf(set: string, word: unknown, index: number): string {
  if (index > 0 || set.startsWith('guarded')) return String(word);
  if (!set.startsWith('net')) return canonical(String(word));
  const { prefix, range } = fields(word);
  if (Array.isArray(range)) return range.map((end) => canonical(String(end))).join('-');
  const { addr, len } = fields(prefix);
  if (typeof addr !== 'string') return `${canonical(String(word))}-${canonical(String(word))}`;
  const { first, last } = bounds(`${addr}/${Number(len)}`);
  const family = familyOf(addr);
  return `${addressText(first, family)}-${addressText(last, family)}`;
}

/** Of IPv4 there is one way to write it. */
const canonical = (address: string): string =>
  address.includes(':') ? addressText(addressValue(address), 6) : address;
