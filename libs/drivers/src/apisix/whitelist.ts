import { canonicalCidr, ruleKey, type ChangeResult, type ObservedRule, type RuleSpec } from '#rules';
import { ALL_TRAFFIC, explainOpen } from '../open-target';
import type { CloudTarget, RuleChange } from '../provider-driver';

/**
 * The state of the plugin ip-restriction of an object. Only `whitelist` denies addresses that are not listed, with every
 * request; `conditional` does with some.
 */
export type Guard = 'whitelist' | 'blacklist' | 'disabled' | 'conditional' | 'none';

/** The relevant fields of a gateway object. */
export interface GuardedObject {
  /** `routes/orders-api` */
  readonly path: string;
  readonly guard: Guard;
  /** the whitelist's entries in their original spelling */
  readonly entries: readonly string[];
  /** why the gateway does not ask the list for every request, as a message; omitted: it does, or that was not read */
  readonly notAsked?: string | null;
  /** the object as the gateway has it */
  readonly value?: Readonly<Record<string, unknown>>;
}

export const UNGUARDED: Readonly<Record<Exclude<Guard, 'whitelist'>, string>> = {
  none: 'The object has no plugin ip-restriction, so the gateway lets everybody in: give it one with the whitelist ["0.0.0.0/32"], and the addresses that are to stay',
  disabled: 'The ip-restriction of the object is disabled, so the gateway lets everybody in: enable it',
  conditional:
    'The ip-restriction of the object has a condition or a function (_meta.filter, _meta.pre_function), so the gateway may let everybody in: take it out',
  blacklist: 'The ip-restriction of the object has a blacklist: replace it by a whitelist',
};

/**
 * The first entry of every list we write. It matches no client. Without it, removing the last address would leave an
 * empty list, which the gateway treats as no restriction.
 */
export const SENTINEL = '0.0.0.0/32';

const ANY_ADDRESS = ['0.0.0.0/0', '::/0'];

const keyOf = (address: string): string => ruleKey({ address, protocol: 'all', ports: [] });

/** The canonical address or range of an entry. @returns null when it allows none: the sentinel, or not an address */
function allowedRange(entry: string): string | null {
  const range = entry === SENTINEL ? null : canonicalCidr(entry);
  // the gateway does not match IPv4 clients with an IPv4-mapped entry
  return range && !(range.version === 4 && entry.includes(':')) ? range.cidr : null;
}

/**
 * Maps the entries of an object. Entries carry no mark: ours are those that the database claims, in canonical spelling.
 * An entry for the same address in another spelling (`203.0.113.7` instead of `203.0.113.7/32`) is unmanaged.
 */
export function observedRules(
  { path, guard, entries, notAsked }: GuardedObject,
  claims: CloudTarget['claims'],
): ObservedRule[] {
  const anyAddress = guard === 'whitelist' ? [] : ANY_ADDRESS;
  return [...new Set(entries), ...anyAddress].flatMap((entry) => {
    const address = allowedRange(entry);
    if (address === null) return [];
    const key = keyOf(address);
    const ownRuleId = entry === address ? (claims.get(key) ?? null) : null;
    // what lets everybody in has its effect
    const noEffect = notAsked && !anyAddress.includes(entry) ? { noEffect: notAsked } : {};
    return [{ key, providerRuleId: idOf(path, entry), ownRuleId, ...noEffect }];
  });
}

/** Why the list restricts nothing, as a message; null: it keeps addresses out. */
export function explainOpenList({ path, entries }: GuardedObject): string | null {
  if (entries.length === 0)
    return `The whitelist of ${path} is empty, so the gateway lets everybody in: put "${SENTINEL}" into it`;
  const unreadable = entries.find((entry) => canonicalCidr(entry) === null);
  if (unreadable !== undefined)
    return `The whitelist of ${path} contains "${unreadable.slice(0, 50)}", which is no address: the gateway may then let everybody in`;
  const rules = entries.flatMap((entry) => allowedRange(entry) ?? []);
  return explainOpen(
    path,
    ALL_TRAFFIC,
    rules.map((address) => ({ address, protocol: 'all', ports: [] })),
  );
}

const idOf = (path: string, entry: string): string => `${path}#${entry}`;

/** The planned write of a batch. */
export interface Rewrite {
  /** the complete list to write; null: no change */
  readonly entries: readonly string[] | null;
  /** results that need no write, by index of the change */
  readonly settled: ReadonlyMap<number, ChangeResult>;
  /** the entry of each other change, by index of the change */
  readonly changed: ReadonlyMap<number, string>;
}

/** Plans removals, then additions. Unmanaged entries keep their spelling and order. */
export function planRewrite(
  { path, guard, entries }: GuardedObject,
  changes: readonly RuleChange[],
  claims: CloudTarget['claims'],
): Rewrite {
  const settled = new Map<number, ChangeResult>();
  const changed = new Map<number, string>();
  const existing = new Set(entries);
  const removed = new Set<string>();
  const added = new Set<string>();
  for (const [index, change] of changes.entries()) {
    if (change.action === 'add') continue;
    const entry = ownEntry(path, change.providerRuleId, claims);
    if (entry === null) settled.set(index, { result: 'done', providerRuleId: null });
    else if (!existing.has(entry))
      settled.set(index, { result: 'done', providerRuleId: null, wasAbsent: true });
    else {
      removed.add(entry);
      changed.set(index, entry);
    }
  }
  for (const [index, change] of changes.entries()) {
    if (change.action === 'remove') continue;
    const refusal = refusalOf(change.spec, guard);
    if (refusal !== null) settled.set(index, { result: 'refused', kind: 'invalid', message: refusal });
    else {
      added.add(change.spec.address);
      changed.set(index, change.spec.address);
    }
  }
  const kept = entries.filter((entry) => entry !== SENTINEL && (!removed.has(entry) || added.has(entry)));
  const newEntries = [...added].filter((entry) => !existing.has(entry));
  const isChanged = newEntries.length > 0 || [...removed].some((entry) => !added.has(entry));
  return { entries: isChanged ? [SENTINEL, ...kept, ...newEntries] : null, settled, changed };
}

/** The entry of a removal. @returns null when it is not ours */
function ownEntry(path: string, providerRuleId: string, claims: CloudTarget['claims']): string | null {
  const start = idOf(path, '');
  if (!providerRuleId.startsWith(start)) return null;
  const entry = providerRuleId.slice(start.length);
  return allowedRange(entry) === entry && claims.has(keyOf(entry)) ? entry : null;
}

function refusalOf({ address, protocol, ports }: RuleSpec, guard: Guard): string | null {
  if (protocol !== 'all' || ports.length > 0) return 'A list of addresses knows no protocols and no ports';
  // with an entry that the gateway cannot parse, the list would not restrict anything
  if (allowedRange(address) !== address) return `${address} is no address or range that can be let in`;
  if (guard === 'blacklist')
    return 'The ip-restriction of the object has a blacklist: replace it by a whitelist first';
  return null;
}

/** The results of the changes, from the list read after the write. */
export function resultsOf(
  { path, guard, entries }: GuardedObject,
  changes: readonly RuleChange[],
  { settled, changed }: Rewrite,
): ChangeResult[] {
  const present = new Set(guard === 'none' || guard === 'blacklist' ? [] : entries);
  return changes.map(({ action }, index) => {
    const entry = changed.get(index)!;
    const known = settled.get(index);
    if (known) return known;
    const isDone = action === 'add' ? present.has(entry) : !present.has(entry) || reAdded(changes, entry);
    if (!isDone)
      return {
        result: 'refused',
        kind: 'conflict',
        message: 'Another client changed the list at the same time',
      };
    return { result: 'done', providerRuleId: action === 'add' ? idOf(path, entry) : null };
  });
}

const reAdded = (changes: readonly RuleChange[], entry: string): boolean =>
  changes.some((change) => change.action === 'add' && change.spec.address === entry);
