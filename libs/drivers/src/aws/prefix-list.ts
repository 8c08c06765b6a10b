import { setTimeout as pause } from 'node:timers/promises';
import {
  DescribeManagedPrefixListsCommand,
  GetManagedPrefixListEntriesCommand,
  ModifyManagedPrefixListCommand,
  type AddPrefixListEntry,
  type ManagedPrefixList,
  type RemovePrefixListEntry,
} from '@aws-sdk/client-ec2';
import { asCallFailure, CallFailure } from '../call-failure';
import { oddAnswer } from './aws-errors';
import type { Ec2Access } from './ec2-clients';
import { Ec2Target, type Page } from './ec2-target';
import type { SdkSettings } from './sdk-settings';

/** What a prefix list says of itself. */
export interface PrefixListFacts {
  /** counts up with every change of the entries */
  readonly version: number;
  readonly maxEntries: number;
  readonly family: 'IPv4' | 'IPv6';
  /** a change was accepted and is not carried out yet */
  readonly isChanging: boolean;
  /** the last change failed; in EC2's words */
  readonly failure: string | null;
}

/** Entries that leave and enter in one change. */
export interface EntryChange {
  readonly remove: RemovePrefixListEntry[];
  readonly add: AddPrefixListEntry[];
}

/** An entry as EC2 shows it. */
export interface Entry {
  readonly cidr: string;
  readonly description: string | undefined;
}

/** The most that EC2 shows on one page. */
const PAGE_SIZE = 100;
const IN_PROGRESS = /^(create|modify|restore)-in-progress$/;
const STANDING = /^(create-complete|(modify|restore)-(complete|failed)|delete-failed)$/;
const GONE = /^(delete-in-progress|delete-complete|create-failed)$/;
const FIRST_PAUSE_MS = 50;
const MAX_PAUSE_MS = 800;

/** The calls Drawbridge makes on one managed prefix list. Each throws CallFailure, also for an answer in another shape. */
export class PrefixList extends Ec2Target {
  constructor(
    readonly listId: string,
    access: Ec2Access,
    settings: SdkSettings,
  ) {
    super(access, settings);
  }

  /** How long a change, and changes after one another, are waited for. */
  get patienceMs(): number {
    return this.settings.callTimeoutMs;
  }

  /** @throws CallFailure `target-missing` when the list is being deleted, `invalid` when it is nobody's to change */
  async describe(): Promise<PrefixListFacts> {
    const command = new DescribeManagedPrefixListsCommand({ PrefixListIds: [this.listId] });
    const answer = await this.call((client, options) => client.send(command, options));
    const shown = answer.PrefixLists?.find(({ PrefixListId }) => PrefixListId?.toLowerCase() === this.listId);
    if (!shown) throw oddAnswer('DescribeManagedPrefixLists');
    return readFacts(shown, this.listId);
  }

  /**
   * As `describe`, once no change is under way: while one is, the entries may be those of before.
   * @throws CallFailure `conflict` when one is under way for long
   */
  async whenSettled(): Promise<PrefixListFacts> {
    const facts = await this.waitFor(({ isChanging }) => !isChanging);
    if (!facts.isChanging) return facts;
    throw new CallFailure('conflict', `${this.listId} is being changed right now`, null, true);
  }

  /** The entries of one version, all pages. */
  entries(version: number): Promise<Entry[]> {
    return this.everyPage('GetManagedPrefixListEntries', (token) => this.readPage(version, token));
  }

  /** Asks for a change of exactly this version; EC2 refuses it when the list has another one by now. */
  async modify(version: number, { add, remove }: EntryChange): Promise<void> {
    const command = new ModifyManagedPrefixListCommand({
      PrefixListId: this.listId,
      CurrentVersion: version,
      ...(remove.length > 0 && { RemoveEntries: remove }),
      ...(add.length > 0 && { AddEntries: add }),
    });
    const answer = await this.call((client, options) => client.send(command, options));
    if (answer.PrefixList?.PrefixListId?.toLowerCase() !== this.listId)
      throw oddAnswer('ModifyManagedPrefixList');
  }

  /**
   * Waits until an accepted change is carried out.
   * @param version the one it was made of
   * @throws CallFailure not settled, when it failed, takes long or cannot be seen
   */
  async whenChanged(version: number): Promise<void> {
    const done = (facts: PrefixListFacts): boolean => !facts.isChanging && facts.version > version;
    let words: string;
    try {
      const facts = await this.waitFor((shown) => done(shown) || hasFailed(shown));
      if (done(facts)) return;
      words = facts.failure ?? `${this.listId} is still being changed`;
    } catch (error) {
      words = asCallFailure(error).message;
    }
    throw new CallFailure('transient', words, null, false);
  }

  /** Asks EC2, by a dry run, whether the credential may change the entries. */
  async mayChange({ version, family }: PrefixListFacts): Promise<void> {
    const madeUp = family === 'IPv4' ? '192.0.2.1/32' : '2001:db8::1/128';
    const command = new ModifyManagedPrefixListCommand({
      PrefixListId: this.listId,
      CurrentVersion: version,
      AddEntries: [{ Cidr: madeUp }],
      DryRun: true,
    });
    await this.dryRun((client, options) => client.send(command, options));
  }

  /** @returns what the list said last: what is waited for, or what it was when patience ran out */
  private async waitFor(isOver: (facts: PrefixListFacts) => boolean): Promise<PrefixListFacts> {
    const until = performance.now() + this.patienceMs;
    let pauseMs = FIRST_PAUSE_MS;
    for (;;) {
      const facts = await this.describe();
      if (isOver(facts) || performance.now() + pauseMs > until) return facts;
      await pause(pauseMs);
      pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS);
    }
  }

  private async readPage(version: number, token: string | undefined): Promise<Page<Entry>> {
    const command = new GetManagedPrefixListEntriesCommand({
      PrefixListId: this.listId,
      TargetVersion: version,
      MaxResults: PAGE_SIZE,
      ...(token !== undefined && { NextToken: token }),
    });
    const { Entries, NextToken } = await this.call((client, options) => client.send(command, options));
    const items = Entries?.flatMap(({ Cidr, Description }) =>
      Cidr ? [{ cidr: Cidr, description: Description }] : [],
    );
    // No list, and an entry without an address, is another answer than an empty list.
    if (!items || items.length !== Entries?.length) throw oddAnswer('GetManagedPrefixListEntries');
    return { items, ...(NextToken && { next: NextToken }) };
  }
}

const hasFailed = ({ isChanging, failure }: PrefixListFacts): boolean => !isChanging && failure !== null;

function readFacts(shown: ManagedPrefixList, listId: string): PrefixListFacts {
  const { AddressFamily, MaxEntries, OwnerId, State = '', StateMessage = '', Version } = shown;
  if (OwnerId === 'AWS') {
    const name = shown.PrefixListName ?? 'one of its own';
    throw new CallFailure(
      'invalid',
      `${listId} is managed by AWS (${name}): nobody else changes it`,
      null,
      true,
    );
  }
  if (shown.IpamPrefixListResolverSyncEnabled) {
    const words = `${listId} is kept by an IPAM prefix list resolver, which takes out what others put in`;
    throw new CallFailure('invalid', words, null, true);
  }
  if (GONE.test(State)) {
    throw new CallFailure('target-missing', `${listId} is no list any more: ${State}`, null, true);
  }
  const isChanging = IN_PROGRESS.test(State);
  const isFamily = AddressFamily === 'IPv4' || AddressFamily === 'IPv6';
  if (!isFamily || Version === undefined || MaxEntries === undefined || !(isChanging || STANDING.test(State)))
    throw oddAnswer('DescribeManagedPrefixLists');
  const failure = State === 'modify-failed' ? `${State}: ${StateMessage}` : null;
  return { version: Version, maxEntries: MaxEntries, family: AddressFamily, isChanging, failure };
}
