import type { Provider } from './provider';

/** A target that holds one of a worker's slots, or waits for one. */
export interface SlotUse {
  readonly targetId: string;
  readonly provider: Provider;
  /** who names the object: several share one, and none is left of an orphan */
  readonly organizations: readonly string[];
  /** somebody lets go of a rule in it */
  readonly closing: boolean;
  /** it may wait: all that is due in it was tried before and failed, or it is only to be compared */
  readonly patient: boolean;
}

/**
 * Nobody holds more slots than this many times what is left free. So one alone takes a good part of them, many take
 * less each, and there is always a slot for who has none, without waiting for anybody's cloud to answer.
 */
const SHARE = {
  /** an organization that opens: half of the slots when it is alone */
  opening: 1,
  /** the same one when it closes: two thirds, so that its own openings do not hold back its removals */
  closing: 2,
  /** all that may wait, of all organizations together: half */
  patient: 1,
  /** a provider: six sevenths, far more than any one organization in it */
  provider: 6,
} as const;

/** The slots that are taken, and by whom. */
class Slots {
  private readonly held = new Map<string, number>();
  private taken = 0;

  constructor(
    private readonly capacity: number,
    running: readonly SlotUse[],
  ) {
    for (const use of running) this.take(use);
  }

  take(use: SlotUse): void {
    this.taken += 1;
    for (const holder of holdersOf(use)) this.held.set(holder, this.heldBy(holder) + 1);
  }

  /** What the organization that has least of those that name the object holds. */
  heldByItsOwners(use: SlotUse): number {
    return Math.min(...ownersOf(use).map((owner) => this.heldBy(owner)));
  }

  mayTake(use: SlotUse): boolean {
    const free = this.capacity - this.taken;
    return (
      this.heldByItsOwners(use) < free * (use.closing ? SHARE.closing : SHARE.opening) &&
      this.heldBy(use.provider) < free * SHARE.provider &&
      (!use.patient || this.heldBy('patient') < free * SHARE.patient)
    );
  }

  private heldBy(holder: string): number {
    return this.held.get(holder) ?? 0;
  }
}

const ownersOf = ({ organizations }: SlotUse): readonly string[] =>
  organizations.length > 0 ? organizations : ['nobody'];

const holdersOf = (use: SlotUse): string[] => [
  ...ownersOf(use),
  use.provider,
  ...(use.patient ? ['patient'] : []),
];

/**
 * Which of the waiting targets start now: closing before opening, what was never tried before what failed, then
 * whoever holds least, then in the order given.
 * @param waiting the longest due first, none of them running
 * @param capacity slots in all
 */
export function chooseFairly<T extends SlotUse>(
  waiting: readonly T[],
  running: readonly SlotUse[],
  capacity: number,
): T[] {
  const slots = new Slots(capacity, running);
  const left = new Set(waiting);
  const chosen: T[] = [];
  for (;;) {
    const next = [...left]
      .filter((use) => slots.mayTake(use))
      .map((use) => ({ use, rank: [Number(!use.closing), Number(use.patient), slots.heldByItsOwners(use)] }))
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
