import { FairLimiter } from '#rules';
import type { Elements } from './elements';
import type { Listing } from './listing';
import type { Nft } from './nft';
import { changeTransaction, replaceTransaction, TABLE, type Change, type RulesetOptions } from './ruleset';

/** Which of the desired elements were read back. */
export interface Observed {
  /** desired elements that are in the table with their desired deadline */
  readonly present: ReadonlySet<string>;
  /** the table's structure is unchanged, and it holds exactly the desired elements */
  readonly exact: boolean;
}

/** Tolerance of a deadline that was read back: nft lists whole seconds, and a listing takes time. */
const READ_TOLERANCE_MS = 1500;

/** Deadlines this close count as equal: `secondsLeft` of each answer includes its own network delay. */
const DEADLINE_TOLERANCE_MS = 500;

/** Owns the table `inet drawbridge`. Operations run one at a time, in the order of the calls. */
export class Guard {
  /** elements of the table by the last read; null: the table has to be recreated */
  private known: Elements | null = null;
  /** as first read after the table was created; null: not read yet */
  private structure: string | null = null;
  private desired: Elements | null = null;
  /** by `enforce`, because another program had changed the table */
  private wasRecreated = false;
  private readonly turns = new FairLimiter(1, Infinity);

  /** @param now running time in milliseconds */
  constructor(
    private readonly nft: Nft,
    private readonly now: () => number,
    private readonly options: RulesetOptions,
  ) {}

  /**
   * Makes the table hold exactly these elements, in one transaction, and reads it back.
   * @throws NftError when that fails: then the table is unchanged
   */
  enforce(elements: Elements): Promise<Observed> {
    return this.turns.run(TABLE, async () => {
      this.desired = elements;
      const { known } = this;
      const isChanged = await this.tryChange(elements);
      // a change fails because the table is not as it was read last, or because nft does not take it
      const isTouched = known !== null && !isChanged && !(await this.read(known)).exact;
      if (!isChanged) await this.replace(elements);
      const observed = await this.read(elements);
      if (isTouched || (known !== null && isChanged && !observed.exact)) this.wasRecreated = true;
      if (observed.exact) return observed;
      await this.replace(elements);
      return this.read(elements);
    });
  }

  /**
   * Checks whether the table is as it was made, and recreates it if not.
   * @returns whether it was recreated, also by an `enforce` since the last call
   * @throws NftError when the table cannot be read or recreated
   */
  repair(): Promise<boolean> {
    return this.turns.run(TABLE, async () => {
      if (!this.desired) return false;
      const { wasRecreated } = this;
      this.wasRecreated = false;
      if ((await this.read(this.desired)).exact) return wasRecreated;
      await this.replace(this.desired);
      await this.read(this.desired);
      return true;
    });
  }

  /** Reads which of these elements are present, without a change. @throws NftError */
  observe(elements: Elements): Promise<Observed> {
    return this.turns.run(TABLE, () => this.read(elements));
  }

  /** @returns false when the table has to be recreated */
  private async tryChange(desired: Elements): Promise<boolean> {
    if (!this.known) return false;
    const now = this.now();
    const change = changeBetween(this.known, unexpired(desired, now), now);
    if (change.removed.length + change.ending.length + change.set.size === 0) return true;
    const transaction = changeTransaction(change, now);
    try {
      await this.nft.load(transaction);
      return true;
    } catch {
      // recreating the table either succeeds or returns nft's error
      return false;
    }
  }

  private async replace(desired: Elements): Promise<void> {
    this.known = null;
    this.structure = null;
    await this.nft.load(replaceTransaction(desired, this.now(), this.options));
  }

  private async read(desired: Elements): Promise<Observed> {
    const before = this.now();
    const listing = await this.nft.list();
    const { observed, known } = compare(desired, listing, before, this.now());
    this.known = known;
    this.structure ??= listing?.structure ?? null;
    return { ...observed, exact: observed.exact && listing?.structure === this.structure };
  }
}

const unexpired = (elements: Elements, now: number): Elements =>
  new Map([...elements].filter(([, deadline]) => deadline > now));

/**
 * @param before and after: running time around the read
 * @returns what is present, and the table's elements with their actual deadlines
 */
export function compare(
  desired: Elements,
  listing: Listing | null,
  before: number,
  after: number,
): { observed: Observed; known: Elements } {
  const known = new Map<string, number>();
  const present = new Set<string>();
  let exact = true;
  for (const [key, seconds] of listing?.secondsLeft ?? []) {
    const deadline = desired.get(key);
    const isAsDesired = deadline !== undefined && isSameDeadline(deadline, seconds * 1000, before, after);
    if (isAsDesired) present.add(key);
    // an expired element is listed until the kernel collects it
    else if (seconds > 0) exact = false;
    known.set(key, isAsDesired ? deadline : after + seconds * 1000);
  }
  for (const [key, deadline] of desired) if (deadline > after && !present.has(key)) exact = false;
  return { observed: { present, exact }, known };
}

const isSameDeadline = (deadline: number, leftMs: number, before: number, after: number): boolean =>
  deadline === leftMs ||
  (leftMs >= deadline - after - READ_TOLERANCE_MS && leftMs <= deadline - before + READ_TOLERANCE_MS);

/** The difference between the elements of the table and those it should have. @param now running time in milliseconds */
export function changeBetween(known: Elements, desired: Elements, now: number): Change {
  const set = new Map([...desired].filter(([key, deadline]) => !isSame(known.get(key), deadline)));
  const deleted = [...known].filter(([key]) => !desired.has(key) || set.has(key));
  const isEnding = ([, deadline]: [string, number]): boolean => deadline <= now + READ_TOLERANCE_MS;
  return {
    removed: deleted.filter((element) => !isEnding(element)).map(([key]) => key),
    ending: deleted.filter(isEnding).map(([key]) => key),
    set,
  };
}

const isSame = (one: number | undefined, other: number): boolean =>
  one !== undefined && (one === other || Math.abs(one - other) <= DEADLINE_TOLERANCE_MS);
