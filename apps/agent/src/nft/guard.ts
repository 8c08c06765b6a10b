import { changeBetween } from './change';
import type { Elements } from './elements';
import type { Listing } from './listing';
import type { Nft } from './nft';
import { changeTransaction, replaceTransaction, type RulesetOptions } from './ruleset';

/** What was read back of the elements that are desired. */
export interface Found {
  /** those that stand, with the end that they are to have */
  readonly standing: ReadonlySet<string>;
  /** the table is as it was made, and nothing is in it but what is desired */
  readonly exact: boolean;
}

/** nft tells whole seconds, and takes its time to tell. */
const READING_MS = 1500;

/** Keeps the table. One deed at a time: whoever asks meanwhile waits. */
export class Guard {
  /** what the table holds, by the last reading; null: it is to be made anew */
  private known: Elements | null = null;
  /** as it was read right after it was made */
  private structure: string | null = null;
  private desired: Elements | null = null;
  private turn: Promise<unknown> = Promise.resolve();

  /** @param now running time in milliseconds */
  constructor(
    private readonly nft: Nft,
    private readonly now: () => number,
    private readonly options: RulesetOptions,
  ) {}

  /**
   * Has the table hold exactly this, by one transaction, and reads it back.
   * @throws NftError when it cannot be had: then the table is as it was
   */
  enforce(elements: Elements): Promise<Found> {
    return this.inTurn(async () => {
      this.desired = elements;
      if (!(await this.changed(elements))) await this.replace(elements);
      const found = await this.read(elements);
      if (found.exact) return found;
      await this.replace(elements);
      return this.read(elements);
    });
  }

  /**
   * Looks whether the table still is what it was made, and makes it anew where it is not.
   * @param parts what to look at
   * @returns whether it had to be mended
   * @throws NftError when it is not, and cannot be made anew
   */
  mend(parts: 'all' | 'structure'): Promise<boolean> {
    return this.inTurn(async () => {
      if (!this.desired) return false;
      const isWhole =
        parts === 'all'
          ? (await this.read(this.desired)).exact
          : (await this.nft.list('structure'))?.structure === this.structure;
      if (isWhole) return false;
      await this.replace(this.desired);
      await this.read(this.desired);
      return true;
    });
  }

  /** Reads what of this stands, and changes nothing. @throws NftError */
  look(elements: Elements): Promise<Found> {
    return this.inTurn(() => this.read(elements));
  }

  /** @returns false when the whole has to be made anew */
  private async changed(desired: Elements): Promise<boolean> {
    if (!this.known) return false;
    const now = this.now();
    const change = changeBetween(this.known, lasting(desired, now));
    if (change.removed.length + change.set.size === 0) return true;
    const transaction = changeTransaction(change, now);
    try {
      await this.nft.load(transaction);
      return true;
    } catch {
      // what the table holds is not what was thought: made anew, it either is or nft says why not
      return false;
    }
  }

  private async replace(desired: Elements): Promise<void> {
    this.known = null;
    await this.nft.load(replaceTransaction(desired, this.now(), this.options));
    this.structure = (await this.nft.list('structure'))?.structure ?? null;
  }

  private async read(desired: Elements): Promise<Found> {
    const before = this.now();
    const listing = await this.nft.list('all');
    const { found, known } = compare(desired, listing, before, this.now());
    this.known = known;
    return { ...found, exact: found.exact && listing !== null && listing.structure === this.structure };
  }

  private inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.turn.then(work);
    // the caller gets the error; the next operation runs all the same
    this.turn = done.catch(() => undefined);
    return done;
  }
}

const lasting = (elements: Elements, now: number): Elements =>
  new Map([...elements].filter(([, deadline]) => deadline > now));

/**
 * @param before and after: running time around the reading
 * @returns what stands, and what the table holds with the ends that it really has
 */
export function compare(
  desired: Elements,
  listing: Listing | null,
  before: number,
  after: number,
): { found: Found; known: Elements } {
  const known = new Map<string, number>();
  const standing = new Set<string>();
  let exact = true;
  for (const [key, seconds] of listing?.secondsLeft ?? []) {
    const deadline = desired.get(key);
    const isRight = deadline !== undefined && isEnd(deadline, seconds * 1000, before, after);
    if (isRight) standing.add(key);
    // one that has just ended is listed until the kernel has swept
    else if (seconds > 0) exact = false;
    known.set(key, isRight ? deadline : after + seconds * 1000);
  }
  for (const [key, deadline] of desired) if (deadline > after && !standing.has(key)) exact = false;
  return { found: { standing, exact }, known };
}

const isEnd = (deadline: number, leftMs: number, before: number, after: number): boolean =>
  deadline === leftMs ||
  (leftMs >= deadline - after - READING_MS && leftMs <= deadline - before + READING_MS);
