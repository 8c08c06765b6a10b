import { bareAddress } from '../cidr';
import { carriesMark, type Opening } from '../ground-truth/ledger';
import type { World } from '../provider';
import { ACCOUNT_ID } from './credentials';
import { listInState, listMalformed, listNotFound } from './prefix-list-errors';

export interface PrefixListEntry {
  /** canonical */
  readonly cidr: string;
  readonly description: string | undefined;
  /** order of creation, for pages */
  readonly ordinal: number;
}

interface Version {
  readonly number: number;
  readonly entries: readonly PrefixListEntry[];
  /** microseconds since 1970 */
  readonly since: number;
}

type State = 'create-complete' | 'modify-in-progress' | 'modify-complete' | 'modify-failed';

export interface PrefixList {
  readonly id: string;
  readonly name: string;
  readonly ownerId: string;
  readonly family: 4 | 6;
  readonly maxEntries: number;
  state: State;
  stateMessage: string | undefined;
  /** oldest first, never none */
  versions: Version[];
}

/** What a restart keeps of a list. */
export interface RememberedList {
  readonly id: string;
  readonly version: number;
  readonly entries: readonly PrefixListEntry[];
}

export interface PrefixListOptions {
  /** MaxEntries of the account's own lists */
  readonly maxEntries: number;
  /** how long a change takes after it was accepted, ms */
  readonly changeMs: number;
}

const MAX_VERSIONS = 1000;
const IPV4_LISTS = 5;
/** S3's list in eu-central-1 looks like this. */
const OF_AWS = 'pl-6da54004';

/** A list's id: they are counted up in hexadecimal. @param index 0 for the first list */
const listIdOf = (index: number): string =>
  `pl-${(0x0123456789abcdef0n + BigInt(index)).toString(16).padStart(17, '0')}`;

/** Some managed prefix lists, the same ones in every region: five for IPv4, one for IPv6, and one of AWS itself. */
export class PrefixLists {
  readonly ids = [...Array.from({ length: IPV4_LISTS + 1 }, (_, index) => listIdOf(index)), OF_AWS];
  private lists = new Map<string, PrefixList>();
  private nextOrdinal = 1;

  constructor(
    private readonly world: World,
    private readonly options: PrefixListOptions,
  ) {
    this.reset();
  }

  reset(): void {
    this.lists = new Map(this.ids.map((id, index) => [id, this.empty(id, index)]));
  }

  /** @throws AwsError when the text is no list id, or the list is unknown */
  get(listId: string): PrefixList {
    if (!/^pl-([0-9a-f]{8}|[0-9a-f]{17})$/.test(listId)) throw listMalformed(listId);
    const list = this.lists.get(listId);
    if (!list) throw listNotFound(listId);
    return list;
  }

  all(): PrefixList[] {
    return [...this.lists.values()];
  }

  ordinal(): number {
    return this.nextOrdinal++;
  }

  /** @throws AwsError while a change is under way */
  checkState({ id, state }: PrefixList): void {
    if (state === 'modify-in-progress') throw listInState(id, state);
  }

  /** Accepts a change, which is carried out a little later. @param failure why it then fails, if it does */
  change(list: PrefixList, entries: readonly PrefixListEntry[], failure?: string): void {
    list.state = 'modify-in-progress';
    const { epoch } = this.world;
    const carryOut = (): void => {
      if (epoch !== this.world.epoch) return;
      list.state = failure === undefined ? 'modify-complete' : 'modify-failed';
      list.stateMessage = failure;
      if (failure === undefined) this.replace(list, entries);
    };
    setTimeout(carryOut, this.options.changeMs).unref();
  }

  /** Makes a new version of a list, now. */
  replace(list: PrefixList, entries: readonly PrefixListEntry[]): void {
    const before = currentVersion(list);
    const stays = new Set(entries.map(({ cidr }) => cidr));
    const stood = new Map(before.entries.map(({ cidr, description }) => [cidr, description]));
    for (const entry of before.entries) if (!stays.has(entry.cidr)) this.close(list, entry);
    for (const entry of entries) {
      if (!stood.has(entry.cidr)) this.open(list, entry);
      else if (stood.get(entry.cidr) !== entry.description) this.relabel(list, entry);
    }
    const version = { number: before.number + 1, entries, since: this.world.clock.now() };
    list.versions = [...list.versions, version].slice(-MAX_VERSIONS);
  }

  remember(): RememberedList[] {
    return this.all().map((list) => {
      const { number, entries } = currentVersion(list);
      return { id: list.id, version: number, entries };
    });
  }

  /** Opens the entries of an earlier run again, in the lists there still are. */
  recall(remembered: readonly RememberedList[]): void {
    for (const { id, version, entries } of remembered) {
      const list = this.lists.get(id);
      if (!list) continue;
      const known = entries.map((entry) => ({ ...entry, ordinal: this.ordinal() }));
      for (const entry of known) this.open(list, entry);
      list.versions = [{ number: version, entries: known, since: this.world.clock.now() }];
    }
  }

  private empty(id: string, index: number): PrefixList {
    const isOfAws = id === OF_AWS;
    return {
      id,
      name: isOfAws ? 'com.amazonaws.eu-central-1.s3' : `simulated-${index}`,
      ownerId: isOfAws ? 'AWS' : ACCOUNT_ID,
      family: index === IPV4_LISTS ? 6 : 4,
      maxEntries: this.options.maxEntries,
      state: 'create-complete',
      stateMessage: undefined,
      versions: [{ number: 1, entries: [], since: 0 }],
    };
  }

  private open(list: PrefixList, entry: PrefixListEntry): void {
    this.world.ledger.open(openingOf(list, entry));
  }

  /** Another description opens and closes nothing, but may make the entry someone else's. */
  private relabel(list: PrefixList, entry: PrefixListEntry): void {
    const opening = openingOf(list, entry);
    this.world.ledger.relabel(opening, opening.ours);
  }

  private close(list: PrefixList, entry: PrefixListEntry): void {
    this.world.ledger.close(openingOf(list, entry));
  }
}

/** @param asOf microseconds since 1970; as it was then */
export function currentVersion({ versions }: PrefixList, asOf = Number.POSITIVE_INFINITY): Version {
  return versions.findLast(({ since }) => since <= asOf) ?? versions[0]!;
}

function openingOf({ id }: PrefixList, { cidr, description }: PrefixListEntry): Opening {
  return {
    provider: 'AWS',
    target: id,
    address: bareAddress(cidr),
    protocol: 'all',
    fromPort: null,
    toPort: null,
    ours: carriesMark([description]),
    providerRuleId: `${id}/${cidr}`,
  };
}
