import { setTimeout as delay } from 'node:timers/promises';
import {
  DescribeManagedPrefixListsCommand,
  GetManagedPrefixListEntriesCommand,
  ModifyManagedPrefixListCommand,
  type AddPrefixListEntry,
  type ManagedPrefixList,
  type RemovePrefixListEntry,
} from '@aws-sdk/client-ec2';
import { asCallFailure, CallFailure, refused } from '../call-failure';
import { unexpectedResponse } from './aws-errors';
import type { Ec2Access } from './ec2-clients';
import { Ec2Target, type Page } from './ec2-target';
import { hasNoEntries, keepResponseText } from './response-text';
import type { SdkSettings } from './sdk-settings';

/** The properties of a prefix list. */
export interface PrefixListFacts {
  /** incremented by every change of the entries */
  readonly version: number;
  readonly maxEntries: number;
  readonly family: 'IPv4' | 'IPv6';
  /** a change was accepted and is still in progress */
  readonly isChanging: boolean;
  /** EC2's message when the last change failed; else null */
  readonly failure: string | null;
}

export interface EntryChange {
  readonly remove: RemovePrefixListEntry[];
  readonly add: AddPrefixListEntry[];
}

/** An entry as EC2 returns it. */
export interface Entry {
  readonly cidr: string;
  readonly description: string | undefined;
}

/** EC2's maximum page size. */
const PAGE_SIZE = 100;
const IN_PROGRESS = /^(create|modify|restore)-in-progress$/;
const STABLE = /^(create-complete|(modify|restore)-(complete|failed)|delete-failed)$/;
const DELETED = /^(delete-in-progress|delete-complete|create-failed)$/;
const MIN_POLL_INTERVAL_MS = 50;
const MAX_POLL_INTERVAL_MS = 800;

/** The API calls on one managed prefix list. Each throws CallFailure, also for a malformed response. */
export class PrefixList extends Ec2Target {
  constructor(
    readonly listId: string,
    access: Ec2Access,
    settings: SdkSettings,
  ) {
    super(access, settings);
  }

  /** Timeout for waiting for a change or a sequence of changes. */
  get timeoutMs(): number {
    return this.settings.callTimeoutMs;
  }

  /** @throws CallFailure `target-missing` when the list is being deleted, `invalid` when it cannot be changed */
  async describe(): Promise<PrefixListFacts> {
    const command = new DescribeManagedPrefixListsCommand({ PrefixListIds: [this.listId] });
    const response = await this.call((client, options) => client.send(command, options));
    const observed = response.PrefixLists?.find(
      ({ PrefixListId }) => PrefixListId?.toLowerCase() === this.listId,
    );
    if (!observed) throw unexpectedResponse('DescribeManagedPrefixLists');
    return readFacts(observed, this.listId);
  }

  /**
   * Waits until no change is in progress: until then the entries may be outdated.
   * @throws CallFailure `conflict` on timeout
   */
  async waitUntilSettled(): Promise<PrefixListFacts> {
    const facts = await this.waitFor(({ isChanging }) => !isChanging);
    if (!facts.isChanging) return facts;
    throw refused('conflict', `${this.listId} is being changed right now`);
  }

  /** The entries of one version, all pages. */
  entries(version: number): Promise<Entry[]> {
    return this.readAllPages('GetManagedPrefixListEntries', (token) => this.readPage(version, token));
  }

  /** Changes exactly this version (compare-and-set); EC2 refuses the change when the list has another version. */
  async modify(version: number, { add, remove }: EntryChange): Promise<void> {
    const command = new ModifyManagedPrefixListCommand({
      PrefixListId: this.listId,
      CurrentVersion: version,
      ...(remove.length > 0 && { RemoveEntries: remove }),
      ...(add.length > 0 && { AddEntries: add }),
    });
    const response = await this.call((client, options) => client.send(command, options));
    if (response.PrefixList?.PrefixListId?.toLowerCase() !== this.listId)
      throw unexpectedResponse('ModifyManagedPrefixList');
  }

  /**
   * Waits until an accepted change has completed.
   * @param version the version the change is based on
   * @throws CallFailure not settled, when the change failed, timed out or cannot be read
   */
  async waitUntilChanged(version: number): Promise<void> {
    const done = (facts: PrefixListFacts): boolean => !facts.isChanging && facts.version > version;
    let message: string;
    try {
      const facts = await this.waitFor((observed) => done(observed) || hasFailed(observed));
      if (done(facts)) return;
      message = facts.failure ?? `${this.listId} is still being changed`;
    } catch (error) {
      message = asCallFailure(error).message;
    }
    throw new CallFailure('transient', message, null, false);
  }

  /** Checks with a dry run that the credential may change the entries. @throws CallFailure */
  async requireWritePermission({ version, family }: PrefixListFacts): Promise<void> {
    const exampleCidr = family === 'IPv4' ? '192.0.2.1/32' : '2001:db8::1/128';
    const command = new ModifyManagedPrefixListCommand({
      PrefixListId: this.listId,
      CurrentVersion: version,
      AddEntries: [{ Cidr: exampleCidr }],
      DryRun: true,
    });
    await this.dryRun((client, options) => client.send(command, options));
  }

  /** Polls until the condition is reached or the timeout expires. @returns the last observed facts */
  private async waitFor(isReached: (facts: PrefixListFacts) => boolean): Promise<PrefixListFacts> {
    const deadline = performance.now() + this.timeoutMs;
    let intervalMs = MIN_POLL_INTERVAL_MS;
    for (;;) {
      const facts = await this.describe();
      if (isReached(facts) || performance.now() + intervalMs > deadline) return facts;
      await delay(intervalMs);
      intervalMs = Math.min(2 * intervalMs, MAX_POLL_INTERVAL_MS);
    }
  }

  private async readPage(version: number, token: string | undefined): Promise<Page<Entry>> {
    const command = new GetManagedPrefixListEntriesCommand({
      PrefixListId: this.listId,
      TargetVersion: version,
      MaxResults: PAGE_SIZE,
      ...(token !== undefined && { NextToken: token }),
    });
    const text = keepResponseText(command);
    const response = await this.call((client, options) => client.send(command, options));
    const { NextToken } = response;
    const Entries = response.Entries ?? (hasNoEntries(text()) ? [] : undefined);
    const items = Entries?.flatMap(({ Cidr, Description }) =>
      Cidr ? [{ cidr: Cidr, description: Description }] : [],
    );
    // A missing list, or an entry without an address, is not an empty list.
    if (!items || items.length !== Entries?.length) throw unexpectedResponse('GetManagedPrefixListEntries');
    return { items, ...(NextToken && { next: NextToken }) };
  }
}

const hasFailed = ({ isChanging, failure }: PrefixListFacts): boolean => !isChanging && failure !== null;

function readFacts(observed: ManagedPrefixList, listId: string): PrefixListFacts {
  const { AddressFamily, MaxEntries, OwnerId, State = '', StateMessage = '', Version } = observed;
  if (OwnerId === 'AWS') {
    const name = observed.PrefixListName ?? 'one of its own';
    throw refused('invalid', `${listId} is managed by AWS (${name}) and cannot be changed`);
  }
  if (observed.IpamPrefixListResolverSyncEnabled) {
    const message = `${listId} is managed by an IPAM prefix list resolver, which removes other entries`;
    throw refused('invalid', message);
  }
  if (DELETED.test(State)) {
    throw refused('target-missing', `${listId} no longer exists: ${State}`);
  }
  const isChanging = IN_PROGRESS.test(State);
  const isFamily = AddressFamily === 'IPv4' || AddressFamily === 'IPv6';
  if (!isFamily || Version === undefined || MaxEntries === undefined || !(isChanging || STABLE.test(State)))
    throw unexpectedResponse('DescribeManagedPrefixLists');
  const failure = State === 'modify-failed' ? `${State}: ${StateMessage}` : null;
  return { version: Version, maxEntries: MaxEntries, family: AddressFamily, isChanging, failure };
}
