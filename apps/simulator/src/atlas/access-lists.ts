import { readAddressOrCidr } from '../cidr';
import { History } from '../ground-truth/history';
import { allTrafficRule, carriesMark, type LedgerRule } from '../ground-truth/ledger';
import type { World } from '../provider';
import { badRequest, busy, full, noEntry } from './atlas-error';

/** An entry. Times in milliseconds since 1970, by Atlas' own clock. */
export interface Entry {
  /** canonical CIDR */
  readonly cidr: string;
  readonly comment: string;
  /** null: it stays */
  readonly endsAt: number | null;
  /** it is PENDING until then, and has no effect */
  readonly activeAt: number;
}

export const PROJECTS: readonly string[] = [1, 2, 3, 4, 5].map((number) => `${'0'.repeat(22)}a${number}`);

const MAX_LIFE_MS = 7 * 86_400_000;
const MAX_TIMER_MS = 2 ** 31 - 1;

type List = readonly Entry[];

/** The IP access lists of the projects, and Atlas' clock, which deletes entries that have ended. */
export class AccessLists {
  private readonly lists: History<List>;
  /** of Atlas' clock before the machine's */
  private aheadMs = 0;
  private readonly timers = new Map<string, NodeJS.Timeout>();
  private readonly busy = new Set<string>();

  constructor(private readonly world: World) {
    this.lists = new History(world);
  }

  now(): number {
    return Date.now() + this.aheadMs;
  }

  /** Sets Atlas' clock forward: what has ended by then is gone. */
  setAhead(milliseconds: number): void {
    this.aheadMs = milliseconds;
    for (const project of PROJECTS) this.write(project, this.get(project));
  }

  reset(): void {
    this.aheadMs = 0;
    this.lists.clear();
    this.busy.clear();
    for (const timer of this.timers.values()) clearTimeout(timer);
    this.timers.clear();
  }

  /** @param asOf microseconds since 1970: the state at that time, up to ten minutes back */
  get(project: string, asOf?: number): List {
    return this.lists.get(project, asOf) ?? [];
  }

  /** One change at a time: another one is refused meanwhile. @throws CloudError */
  async change<Result>(project: string, work: () => Result): Promise<Result> {
    if (this.busy.has(project)) throw busy();
    this.busy.add(project);
    try {
      const { atlasWriteMs } = this.world.sizes;
      if (atlasWriteMs > 0) await new Promise((done) => setTimeout(done, atlasWriteMs));
      return work();
    } finally {
      this.busy.delete(project);
    }
  }

  /** Adds entries, all or none. One that is there gets the comment and the end of the new one, also when another client wrote it. */
  add(project: string, given: readonly unknown[], firstHalf = false): void {
    const read = given.map((one) => this.read(one));
    const added = new Map(read.map((entry) => [entry.cidr, entry]));
    const before = this.get(project);
    const { atlasEntries } = this.world.sizes;
    if (new Set([...before.map(({ cidr }) => cidr), ...added.keys()]).size > atlasEntries)
      throw full(atlasEntries);
    const applied = firstHalf ? [...added.values()].slice(0, Math.ceil(added.size / 2)) : added.values();
    const list = new Map(before.map((entry) => [entry.cidr, entry]));
    for (const entry of applied) {
      const known = list.get(entry.cidr);
      list.set(entry.cidr, known ? { ...entry, activeAt: known.activeAt } : entry);
    }
    this.write(project, [...list.values()]);
  }

  /** @throws CloudError */
  remove(project: string, entry: string): void {
    this.find(project, entry);
    const { text } = readAddressOrCidr(entry)!;
    this.write(
      project,
      this.get(project).filter(({ cidr }) => cidr !== text),
    );
  }

  /** @throws CloudError */
  find(project: string, entry: string): Entry {
    const cidr = readAddressOrCidr(entry)?.text;
    const found = this.get(project).find((one) => one.cidr === cidr);
    if (!found) throw noEntry(entry);
    return found;
  }

  /** Replaces a list, of which Atlas deletes what has ended. */
  write(project: string, list: List): void {
    const now = this.now();
    const kept = list.filter(({ endsAt }) => endsAt === null || endsAt > now);
    const open = kept.filter(({ activeAt }) => activeAt <= now);
    const { ledger } = this.world;
    ledger.replace(
      ledger.list({ provider: 'ATLAS', target: project }).map(({ since: _, ...rule }) => rule),
      open.map((entry) => ledgerRuleOf(project, entry)),
    );
    this.lists.set(project, kept);
    clearTimeout(this.timers.get(project));
    const next = Math.min(
      ...kept.flatMap(({ endsAt, activeAt }) => [endsAt ?? Infinity, activeAt > now ? activeAt : Infinity]),
    );
    if (next === Infinity) return;
    const timer = setTimeout(
      () => this.write(project, this.get(project)),
      Math.min(next - now + 1, MAX_TIMER_MS),
    );
    this.timers.set(project, timer.unref());
  }

  /** @throws CloudError */
  private read(given: unknown): Entry {
    const { cidrBlock, ipAddress, comment = '', deleteAfterDate } = given as Record<string, unknown>;
    const text = String(cidrBlock ?? ipAddress);
    const cidr = readAddressOrCidr(text);
    if (!cidr || (cidrBlock !== undefined && !text.includes('/')))
      throw badRequest('INVALID_IP_ADDRESS_OR_CIDR_NOTATION', `${text} is no IP address or CIDR block.`);
    const now = this.now();
    const endsAt =
      deleteAfterDate === undefined
        ? null
        : Date.parse(typeof deleteAfterDate === 'string' ? deleteAfterDate : '');
    if (endsAt !== null && !(endsAt > now && endsAt <= now + MAX_LIFE_MS))
      throw badRequest('INVALID_DELETE_AFTER_DATE', 'deleteAfterDate must be within the next seven days.');
    const activeAt = now + this.world.sizes.atlasPendingMs;
    return { cidr: cidr.text, comment: String(comment), endsAt, activeAt };
  }
}

const ledgerRuleOf = (target: string, { cidr, comment }: Entry): LedgerRule =>
  allTrafficRule('ATLAS', target, cidr, carriesMark([comment]));
