import { canonicalCidr, type ObservedRule } from '#rules';
import { ALL_TRAFFIC, allTrafficFrom, explainOpen } from '../open-target';
import type { CloudTarget } from '../provider-driver';
import { keyOfCidr, refused, type ListForm } from '../whole-list/plan-rewrite';

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
    const key = keyOfCidr(address);
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
  const ranges = entries.flatMap((entry) => allowedRange(entry) ?? []);
  return explainOpen(path, ALL_TRAFFIC, ranges.map(allTrafficFrom));
}

const idOf = (path: string, entry: string): string => `${path}#${entry}`;

/** Entries in another spelling than ours (`203.0.113.7` instead of `203.0.113.7/32`) are never ours. */
const own = (entry: string): string | null => (allowedRange(entry) === entry ? entry : null);

/** How the list of an object is read and written. */
export const listForm = ({ path, guard }: Pick<GuardedObject, 'path' | 'guard'>): ListForm => {
  return {
    own,
    spell: (cidr) => {
      const message = refusalOf(cidr, guard);
      return message === null ? cidr : refused('invalid', message);
    },
    idOf: (cidr) => idOf(path, cidr),
    cidrOf: (providerRuleId) =>
      providerRuleId.startsWith(idOf(path, '')) ? own(providerRuleId.slice(idOf(path, '').length)) : null,
    sentinel: SENTINEL,
    whenEmpty: 'open',
    // what is refused for its length is refused as a whole
    isDivided: false,
  };
};

function refusalOf(address: string, guard: Guard): string | null {
  // with an entry that the gateway cannot parse, the list would not restrict anything
  if (allowedRange(address) !== address) return `${address} is no address or range that can be let in`;
  if (guard === 'blacklist')
    return 'The ip-restriction of the object has a blacklist: replace it by a whitelist first';
  return null;
}
