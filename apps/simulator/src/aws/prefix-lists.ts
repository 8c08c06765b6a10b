import { allTrafficRule, carriesMark, type LedgerRule } from '../ground-truth/ledger';
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
  /** oldest first, at least one */
  versions: Version[];
}

/** The part of a list that survives a restart. */
export interface SavedList {
  readonly id: string;
  readonly version: number;
  readonly entries: readonly PrefixListEntry[];
}

const MAX_VERSIONS = 1000;
const IPV4_LISTS = 5;
/** id of S3's list in eu-central-1 */
const AWS_LIST_ID = 'pl-6da54004';

/** A list's id; ids count up in hexadecimal. @param index 0 for the first list */
const listIdOf = (index: number): string =>
  `pl-${(0x0123456789abcdef0n + BigInt(index)).toString(16).padStart(17, '0')}`;

/** Managed prefix lists, the same in every region: five for IPv4, one for IPv6, and one owned by AWS. */
export class PrefixLists {
  readonly ids = [...Array.from({ length: IPV4_LISTS + 1 }, (_, index) => listIdOf(index)), AWS_LIST_ID];
  private lists = new Map<string, PrefixList>();
  private nextOrdinal = 1;

  constructor(private readonly world: World) {
    this.reset();
  }

  reset(): void {
    this.lists = new Map(this.ids.map((id, index) => [id, this.empty(id, index)]));
  }

  /** @throws CloudError when the id is malformed or unknown */
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

  /** @throws CloudError while a change is in progress */
  checkState({ id, state }: PrefixList): void {
    if (state === 'modify-in-progress') throw listInState(id, state);
  }

  /** Accepts a change and applies it later. @param failure the message with which it fails instead */
  change(list: PrefixList, entries: readonly PrefixListEntry[], failure?: string): void {
    list.state = 'modify-in-progress';
    const { epoch } = this.world;
    const apply = (): void => {
      if (epoch !== this.world.epoch) return;
      list.state = failure === undefined ? 'modify-complete' : 'modify-failed';
      list.stateMessage = failure;
      if (failure === undefined) this.replace(list, entries);
    };
    setTimeout(apply, this.world.sizes.listChangeMs).unref();
  }

  /** Creates a new version of a list immediately. */
  replace(list: PrefixList, entries: readonly PrefixListEntry[]): void {
    const before = currentVersion(list);
    this.world.ledger.replace(ledgerRulesOf(list, before.entries), ledgerRulesOf(list, entries));
    const version = { number: before.number + 1, entries, since: this.world.clock.now() };
    list.versions = [...list.versions, version].slice(-MAX_VERSIONS);
  }

  save(): SavedList[] {
    return this.all().map((list) => {
      const { number, entries } = currentVersion(list);
      return { id: list.id, version: number, entries };
    });
  }

  /** Restores the entries of an earlier run, in the lists that still exist. */
  restore(saved: readonly SavedList[]): void {
    for (const { id, version, entries } of saved) {
      const list = this.lists.get(id);
      if (!list) continue;
      const restored = entries.map((entry) => ({ ...entry, ordinal: this.ordinal() }));
      this.world.ledger.replace([], ledgerRulesOf(list, restored));
      list.versions = [{ number: version, entries: restored, since: this.world.clock.now() }];
    }
  }

  private empty(id: string, index: number): PrefixList {
    const isAwsOwned = id === AWS_LIST_ID;
    return {
      id,
      name: isAwsOwned ? 'com.amazonaws.eu-central-1.s3' : `simulated-${index}`,
      ownerId: isAwsOwned ? 'AWS' : ACCOUNT_ID,
      family: index === IPV4_LISTS ? 6 : 4,
      maxEntries: this.world.sizes.entriesPerList,
      state: 'create-complete',
      stateMessage: undefined,
      versions: [{ number: 1, entries: [], since: 0 }],
    };
  }
}

/** @param asOf microseconds since 1970: the version at that time */
export function currentVersion({ versions }: PrefixList, asOf = Number.POSITIVE_INFINITY): Version {
  return versions.findLast(({ since }) => since <= asOf) ?? versions[0]!;
}

const ledgerRulesOf = ({ id }: PrefixList, entries: readonly PrefixListEntry[]): LedgerRule[] =>
  entries.map(({ cidr, description }) =>
    allTrafficRule('AWS', id, cidr, carriesMark([description]), `${id}/${cidr}`),
  );
