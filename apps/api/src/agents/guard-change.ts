import {
  difference,
  parseHost,
  unionOf,
  type HostConnection,
  type HostGuard,
  type RefusedTraffic,
} from '#rules';

const TRAFFIC_LISTS = ['guarded', 'waiting', 'leftAlone'] as const;

/** The lists of a guard that are not empty; connections and chains of other programs are not among them. */
type GuardLists = Partial<Omit<HostGuard, 'connections' | 'otherChains'>>;

export interface GuardChange {
  readonly added: GuardLists;
  readonly removed: GuardLists;
}

const NO_GUARD: HostGuard = { guarded: [], waiting: [], leftAlone: [], refused: [], connections: [] };

/** The same guard in canonical order, so that the order of a report does not count as a change. */
export function canonicalGuard(guard: HostGuard): HostGuard {
  const { guarded, waiting, leftAlone, refused, connections, otherChains = [] } = guard;
  return {
    guarded: unionOf(guarded),
    waiting: unionOf(waiting),
    leftAlone: unionOf(leftAlone),
    refused: distinct(
      refused.flatMap(({ protocol, ports, reason }): RefusedTraffic[] =>
        unionOf([{ protocol, ports }]).map((traffic) => ({ ...traffic, reason })),
      ),
    ),
    connections: distinct(
      connections.map(({ address, protocol, port }): HostConnection => ({
        address: parseHost(address)?.text ?? address,
        protocol,
        port,
      })),
    ),
    ...(otherChains.length > 0 && { otherChains: [...new Set(otherChains)].toSorted() }),
  };
}

/**
 * What a guard lists and an earlier one did not, and the reverse. Both are canonical.
 * @param before null: none was reported
 * @returns null when only connections or chains of other programs differ
 */
export function guardChange(before: HostGuard | null, now: HostGuard): GuardChange | null {
  const added = notIn(before ?? NO_GUARD, now);
  const removed = notIn(now, before ?? NO_GUARD);
  return Object.keys(added).length + Object.keys(removed).length === 0 ? null : { added, removed };
}

function notIn(known: HostGuard, guard: HostGuard): GuardLists {
  const traffic = TRAFFIC_LISTS.map((list) => [list, difference(guard[list], known[list])] as const);
  const knownRefusals = new Set(known.refused.map(textOf));
  const refused = guard.refused.filter((entry) => !knownRefusals.has(textOf(entry)));
  return Object.fromEntries(
    [...traffic, ['refused', refused] as const].filter(([, list]) => list.length > 0),
  );
}

/** The database may return the fields in another order. */
const textOf = ({ protocol, ports, reason }: RefusedTraffic): string =>
  JSON.stringify([protocol, ports, reason]);

const distinct = <Item extends object>(items: readonly Item[]): Item[] =>
  [...new Map(items.map((item) => [JSON.stringify(item), item]))]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([, item]) => item);
