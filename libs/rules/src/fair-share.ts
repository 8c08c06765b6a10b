import type { Provider } from './provider';

/** Work that uses one of a worker's slots, or waits for one. */
export interface SlotShare {
  /** what else it shares with others: a target's provider */
  readonly provider: string;
  /** organizations that share it; empty for a target with only orphans */
  readonly organizations: readonly string[];
  /** it has a removal due */
  readonly closing: boolean;
  /** low priority: all of it that is due has failed before, or a target only needs a comparison */
  readonly deferrable: boolean;
}

/** A target that uses one of a worker's slots, or waits for one. */
export interface SlotUse extends SlotShare {
  readonly targetId: string;
  readonly provider: Provider;
}

/**
 * Dynamic threshold: no user of slots gets more than this factor times the free slots. A single user gets a large part, many
 * users get less each, and a slot always remains for a new user.
 */
const SHARE = {
  /** an organization adding rules: half of the slots when it is alone */
  adding: 1,
  /** an organization removing rules: two thirds, so that its additions do not delay its removals */
  closing: 2,
  /** all deferrable targets of all organizations together: half */
  deferrable: 1,
  /** a provider: six sevenths, far more than a single organization */
  provider: 6,
} as const;

/** Counts used slots by organization, provider and priority. */
class Slots {
  private readonly used = new Map<string, number>();
  private taken = 0;

  constructor(
    private readonly capacity: number,
    running: readonly SlotShare[],
  ) {
    for (const use of running) this.take(use);
  }

  take(use: SlotShare): void {
    this.taken += 1;
    for (const user of usersOf(use)) this.used.set(user, this.usedBy(user) + 1);
  }

  /** Slots of the target's organization that uses the fewest. */
  usedByOwner(use: SlotShare): number {
    return Math.min(...ownersOf(use).map((owner) => this.usedBy(owner)));
  }

  mayTake(use: SlotShare): boolean {
    const free = this.capacity - this.taken;
    return (
      this.usedByOwner(use) < free * (use.closing ? SHARE.closing : SHARE.adding) &&
      this.usedBy(use.provider) < free * SHARE.provider &&
      (!use.deferrable || this.usedBy('deferrable') < free * SHARE.deferrable)
    );
  }

  private usedBy(user: string): number {
    return this.used.get(user) ?? 0;
  }
}

const ownersOf = ({ organizations }: SlotShare): readonly string[] =>
  organizations.length > 0 ? organizations : ['no organization'];

const usersOf = (use: SlotShare): string[] => [
  ...ownersOf(use),
  use.provider,
  ...(use.deferrable ? ['deferrable'] : []),
];

/**
 * Chooses the waiting work to start: removals before additions, untried before deferrable ones, then by fewest slots of
 * the organization, then in the given order.
 * @param waiting longest due first, none of them running
 * @param capacity total number of slots
 */
export function chooseFairly<T extends SlotShare>(
  waiting: readonly T[],
  running: readonly SlotShare[],
  capacity: number,
): T[] {
  const slots = new Slots(capacity, running);
  const left = new Set(waiting);
  const chosen: T[] = [];
  for (;;) {
    const next = [...left]
      .filter((use) => slots.mayTake(use))
      .map((use) => ({ use, rank: [Number(!use.closing), Number(use.deferrable), slots.usedByOwner(use)] }))
      .reduce<{ use: T; rank: number[] } | null>(
        (best, one) => (best && !isBefore(one.rank, best.rank) ? best : one),
        null,
      );
    if (!next) return chosen;
    slots.take(next.use);
    left.delete(next.use);
    chosen.push(next.use);
  }
}

function isBefore(one: readonly number[], other: readonly number[]): boolean {
  const differs = one.findIndex((value, index) => value !== other[index]);
  return differs >= 0 && one[differs]! < other[differs]!;
}
