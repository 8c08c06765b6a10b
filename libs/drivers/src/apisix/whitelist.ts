import { canonicalCidr, ruleKey, type ChangeResult, type ObservedRule, type RuleSpec } from '#rules';
import type { CloudTarget, RuleChange } from '../provider-driver';

/** What the plugin ip-restriction makes of an object. Only with `whitelist` is anybody kept out but those listed. */
export type Guard = 'whitelist' | 'blacklist' | 'disabled' | 'none';

/** One object of the gateway, as much of it as matters here. */
export interface GuardedObject {
  /** `routes/orders-api` */
  readonly path: string;
  readonly guard: Guard;
  /** the whitelist's, as they are spelled */
  readonly entries: readonly string[];
}

/**
 * Stands first in every list of ours and lets nobody in: a list without entries is none, and without a list the
 * gateway lets everybody in.
 */
export const SENTINEL = '0.0.0.0/32';

const EVERYONE = ['0.0.0.0/0', '::/0'];

const keyOf = (address: string): string => ruleKey({ address, protocol: 'all', ports: [] });

/** The address or range an entry lets in, canonical. @returns null when it lets in none: the sentinel, or no address */
function letIn(entry: string): string | null {
  const range = entry === SENTINEL ? null : canonicalCidr(entry);
  // an IPv4-mapped entry is no IPv4 to the gateway
  return range && !(range.version === 4 && entry.includes(':')) ? range.cidr : null;
}

/**
 * What an object lets in. Entries carry no mark: ours are those that our record claims, spelled as we spell them.
 * Somebody else's entry for the same address, `203.0.113.7` where ours is `203.0.113.7/32`, stays theirs.
 */
export function observedRules(
  { path, guard, entries }: GuardedObject,
  claims: CloudTarget['claims'],
): ObservedRule[] {
  const everyone = guard === 'whitelist' ? [] : EVERYONE;
  return [...new Set(entries), ...everyone].flatMap((entry) => {
    const address = letIn(entry);
    if (address === null) return [];
    const key = keyOf(address);
    const ownRuleId = entry === address ? (claims.get(key) ?? null) : null;
    return [{ key, providerRuleId: idOf(path, entry), ownRuleId }];
  });
}

const idOf = (path: string, entry: string): string => `${path}#${entry}`;

/** What a batch makes of a list. */
export interface Rewrite {
  /** the whole list to write; null when there is nothing to change */
  readonly entries: readonly string[] | null;
  /** what is settled without writing, by the change's place in the batch */
  readonly settled: ReadonlyMap<number, ChangeResult>;
  /** the entry of each other change, by its place */
  readonly touched: ReadonlyMap<number, string>;
}

/** Takes out, then puts in; everybody else's entries stay as they are, and in their order. */
export function rewrite(
  { path, guard, entries }: GuardedObject,
  changes: readonly RuleChange[],
  claims: CloudTarget['claims'],
): Rewrite {
  const settled = new Map<number, ChangeResult>();
  const touched = new Map<number, string>();
  const standing = new Set(entries);
  const out = new Set<string>();
  const added = new Set<string>();
  for (const [index, change] of changes.entries()) {
    if (change.action === 'add') continue;
    const entry = ownEntry(path, change.providerRuleId, claims);
    if (entry === null || !standing.has(entry)) settled.set(index, { result: 'done', providerRuleId: null });
    else {
      out.add(entry);
      touched.set(index, entry);
    }
  }
  for (const [index, change] of changes.entries()) {
    if (change.action === 'remove') continue;
    const refusal = refusalOf(change.spec, guard);
    if (refusal !== null) settled.set(index, { result: 'refused', kind: 'invalid', message: refusal });
    else {
      added.add(change.spec.address);
      touched.set(index, change.spec.address);
    }
  }
  const kept = entries.filter((entry) => entry !== SENTINEL && (!out.has(entry) || added.has(entry)));
  const news = [...added].filter((entry) => !standing.has(entry));
  const isChanged = news.length > 0 || [...out].some((entry) => !added.has(entry));
  return { entries: isChanged ? [SENTINEL, ...kept, ...news] : null, settled, touched };
}

/** The entry a removal is about. @returns null when it is not ours */
function ownEntry(path: string, providerRuleId: string, claims: CloudTarget['claims']): string | null {
  const start = idOf(path, '');
  if (!providerRuleId.startsWith(start)) return null;
  const entry = providerRuleId.slice(start.length);
  return letIn(entry) === entry && claims.has(keyOf(entry)) ? entry : null;
}

function refusalOf({ address, protocol, ports }: RuleSpec, guard: Guard): string | null {
  if (protocol !== 'all' || ports.length > 0) return 'A list of addresses knows no protocols and no ports';
  // a list with an entry that the gateway cannot read would let everybody in
  if (letIn(address) !== address) return `${address} is no address or range that can be let in`;
  if (guard === 'blacklist')
    return 'The ip-restriction of the object has a blacklist: replace it by a whitelist first';
  return null;
}

/** What became of the changes, by what was read after they were written. */
export function judged(
  { path, guard, entries }: GuardedObject,
  changes: readonly RuleChange[],
  { settled, touched }: Rewrite,
): ChangeResult[] {
  const standing = new Set(guard === 'whitelist' || guard === 'disabled' ? entries : []);
  return changes.map(({ action }, index) => {
    const entry = touched.get(index)!;
    const known = settled.get(index);
    if (known) return known;
    const isDone = action === 'add' ? standing.has(entry) : !standing.has(entry) || reAdded(changes, entry);
    if (!isDone)
      return {
        result: 'refused',
        kind: 'conflict',
        message: 'Somebody else changed the list at the same time',
      };
    return { result: 'done', providerRuleId: action === 'add' ? idOf(path, entry) : null };
  });
}

const reAdded = (changes: readonly RuleChange[], entry: string): boolean =>
  changes.some((change) => change.action === 'add' && change.spec.address === entry);
