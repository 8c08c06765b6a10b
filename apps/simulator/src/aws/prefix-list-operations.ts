import { bareAddress, readCidr } from '../cidr';
import type { CallModifiers } from '../faults/serve-call';
import { awsError, dryRunSucceeded, invalidValue, missingParameter } from './aws-error';
import { ACCOUNT_ID } from './credentials';
import { isDryRun, itemsToApply, targetIn, type Ec2Operation } from './ec2-operation';
import { requestedPage } from './paging';
import {
  entryExists,
  entryMissing,
  managedByAws,
  tooManyChanges,
  tooManyEntries,
  versionMismatch,
} from './prefix-list-errors';
import { currentVersion, type PrefixList, type PrefixListEntry, type PrefixLists } from './prefix-lists';
import { checkDescription } from './permissions';
import type { QueryForm } from './query-form';
import type { XmlStructure } from './xml';

const MAX_CHANGES = 100;
const PAGE = { smallest: 1, largest: 100, usual: 100 };

/** DescribeManagedPrefixLists: an unknown id is an error. */
export const describeLists: Ec2Operation = {
  effect: 'read',
  targets: (form) => form.texts('PrefixListId'),
  perform(form, { lists }, how) {
    if (form.list('Filter').length > 0) throw invalidValue('Filters are not simulated for prefix lists');
    const listIds = form.texts('PrefixListId');
    const named = listIds.length === 0 ? lists.all() : listIds.map((listId) => lists.get(listId));
    const page = requestedPage(
      form,
      named.map((list, ordinal) => ({ list, ordinal })),
      PAGE,
    );
    if (isDryRun(form)) throw dryRunSucceeded();
    const shown = page.items.map(({ list }) => listXml(list, how.asOf));
    return { prefixListSet: shown, nextToken: page.next };
  },
};

/** GetManagedPrefixListEntries: entries of the current version, or of an earlier one. */
export const getEntries: Ec2Operation = {
  effect: 'read',
  targets: targetIn('PrefixListId'),
  perform(form, { lists }, how) {
    const list = lists.get(readListId(form));
    const number = readInteger(form, 'TargetVersion');
    const version =
      number === undefined
        ? currentVersion(list, how.asOf)
        : list.versions.find((candidate) => candidate.number === number);
    if (!version) throw invalidValue(`Version ${number} does not exist for prefix list ${list.id}.`);
    const page = requestedPage(form, version.entries, PAGE);
    if (isDryRun(form)) throw dryRunSucceeded();
    const entrySet = page.items.map(({ cidr, description }) => ({ cidr, description }));
    // EC2 leaves out an empty set
    return { ...(entrySet.length > 0 && { entrySet }), nextToken: page.next };
  },
};

/** ModifyManagedPrefixList: removes entries, then adds others, all or none, asynchronously. */
export const modifyList: Ec2Operation = {
  effect: 'change',
  targets: targetIn('PrefixListId'),
  items: (form) => form.list('AddEntry').length + form.list('RemoveEntry').length,
  addresses: (form) =>
    [...form.list('AddEntry'), ...form.list('RemoveEntry')].map((entry) =>
      bareAddress(readCidr(entry.text('Cidr') ?? '')?.text ?? ''),
    ),
  perform: (form, { lists }, how) => accept(form, lists, how),
  failLater: (form, { lists }) => accept(form, lists, {}, 'The prefix list could not be modified.'),
};

function accept(form: QueryForm, lists: PrefixLists, how: CallModifiers, failure?: string): XmlStructure {
  const list = lists.get(readListId(form));
  if (list.ownerId !== ACCOUNT_ID) throw managedByAws(list.id);
  for (const unsupported of ['PrefixListName', 'MaxEntries']) {
    if (form.text(unsupported) !== undefined)
      throw awsError('UnsupportedOperation', `${unsupported} is not simulated`);
  }
  const removals = form.list('RemoveEntry').map((entry) => readEntryCidr(entry, list));
  const additions = form.list('AddEntry').map((entry) => readAddition(entry, list, lists));
  checkRequest(removals, additions);
  const version = readInteger(form, 'CurrentVersion');
  if (version === undefined) throw missingParameter('CurrentVersion');
  lists.checkState(list);
  if (version !== currentVersion(list).number) throw versionMismatch();
  const result = applied(list, removals, additions);
  if (isDryRun(form)) throw dryRunSucceeded();
  lists.change(list, how.firstHalf ? halfApplied(list, removals, additions, how) : result, failure);
  return { prefixList: listXml(list) };
}

function checkRequest(removals: readonly string[], additions: readonly PrefixListEntry[]): void {
  const cidrs = [...removals, ...additions.map(({ cidr }) => cidr)];
  if (cidrs.length === 0) throw missingParameter('AddEntries or RemoveEntries');
  if (cidrs.length > MAX_CHANGES) throw tooManyChanges(MAX_CHANGES);
  const repeated = cidrs.find((cidr, index) => cidrs.indexOf(cidr) < index);
  if (repeated !== undefined) throw invalidValue(`The request received duplicate CIDR (${repeated}).`);
}

/** The entries after a change; adding an existing address with another description replaces the description. */
function applied(
  list: PrefixList,
  removals: readonly string[],
  additions: readonly PrefixListEntry[],
): PrefixListEntry[] {
  const entries = new Map(currentVersion(list).entries.map((entry) => [entry.cidr, entry]));
  for (const cidr of removals) if (!entries.delete(cidr)) throw entryMissing(cidr);
  for (const entry of additions) {
    const existing = entries.get(entry.cidr);
    if (existing && existing.description === entry.description)
      throw entryExists(entry.cidr, entry.description);
    entries.set(entry.cidr, entry);
  }
  if (entries.size > list.maxEntries) throw tooManyEntries(list.maxEntries);
  return [...entries.values()].sort((a, b) => a.ordinal - b.ordinal);
}

const halfApplied = (
  list: PrefixList,
  removals: readonly string[],
  additions: readonly PrefixListEntry[],
  how: CallModifiers,
): PrefixListEntry[] =>
  removals.length > 0
    ? applied(list, itemsToApply(removals, how), [])
    : applied(list, [], itemsToApply(additions, how));

const readListId = (form: QueryForm): string => {
  const listId = form.text('PrefixListId');
  if (listId === undefined) throw missingParameter('PrefixListId');
  return listId;
};

function readAddition(entry: QueryForm, list: PrefixList, lists: PrefixLists): PrefixListEntry {
  const description = entry.text('Description');
  checkDescription(description);
  return { cidr: readEntryCidr(entry, list), description, ordinal: lists.ordinal() };
}

function readEntryCidr(entry: QueryForm, { family }: PrefixList): string {
  const text = entry.text('Cidr');
  if (text === undefined) throw missingParameter('Cidr');
  const cidr = readCidr(text);
  if (!cidr) throw invalidValue(`The CIDR block ${text} is malformed`);
  if (cidr.version !== family)
    throw invalidValue(`The CIDR block ${text} does not match the address family IPv${family}`);
  return cidr.text;
}

function readInteger(form: QueryForm, name: string): number | undefined {
  const text = form.text(name);
  if (text === undefined) return undefined;
  if (!/^\d{1,15}$/.test(text)) throw invalidValue(`Invalid integer value ${text} for ${name}`);
  return Number(text);
}

/** A list as AWS shows it; lists of AWS itself have no version and no size. */
function listXml(list: PrefixList, asOf?: number): XmlStructure {
  const isOwn = list.ownerId === ACCOUNT_ID;
  return {
    prefixListId: list.id,
    addressFamily: `IPv${list.family}`,
    state: list.state,
    stateMessage: list.stateMessage,
    prefixListArn: `arn:aws:ec2:eu-central-1:${isOwn ? ACCOUNT_ID : 'aws'}:prefix-list/${list.id}`,
    prefixListName: list.name,
    ...(isOwn && { maxEntries: list.maxEntries, version: currentVersion(list, asOf).number }),
    tagSet: [],
    ownerId: list.ownerId,
  };
}
