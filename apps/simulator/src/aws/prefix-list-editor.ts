import { readAddressOrCidr } from '../cidr';
import type { UnmanagedRuleSpec, UnmanagedRuleChange } from '../provider';
import { invalidValue } from './aws-error';
import { checkDescription } from './permissions';
import { entryExists, tooManyEntries } from './prefix-list-errors';
import { currentVersion, type PrefixList, type PrefixListEntry, type PrefixLists } from './prefix-lists';

/** Changes of prefix lists by another program. Each creates a version immediately. */
export class PrefixListEditor {
  constructor(private readonly lists: PrefixLists) {}

  /** @returns the entry's id. @throws CloudError */
  add({ target, address, description }: UnmanagedRuleSpec): string {
    const list = this.lists.get(target);
    const { entries } = currentVersion(list);
    const cidr = readAddressOrCidr(address);
    if (cidr?.version !== list.family) throw invalidValue(`${address} is not an IPv${list.family} address`);
    checkDescription(description);
    if (entries.some((entry) => entry.cidr === cidr.text)) throw entryExists(cidr.text, description);
    if (entries.length >= list.maxEntries) throw tooManyEntries(list.maxEntries);
    this.lists.replace(list, [...entries, { cidr: cidr.text, description, ordinal: this.lists.ordinal() }]);
    return `${list.id}/${cidr.text}`;
  }

  /** @param ruleIds of existing entries. @throws CloudError */
  remove(target: string, ruleIds: readonly string[]): void {
    const list = this.lists.get(target);
    const remaining = currentVersion(list).entries.filter((entry) => !ruleIds.includes(idOf(list, entry)));
    if (ruleIds.length > 0) this.lists.replace(list, remaining);
  }

  /** Changes descriptions, the only mutable field of an entry. @throws CloudError */
  describe(target: string, ruleIds: readonly string[], { address, description }: UnmanagedRuleChange): void {
    if (address !== undefined) throw invalidValue('The address of an entry cannot be changed');
    const list = this.lists.get(target);
    checkDescription(description);
    const entries = currentVersion(list).entries.map((entry) =>
      ruleIds.includes(idOf(list, entry))
        ? { ...entry, description: description ?? entry.description }
        : entry,
    );
    this.lists.replace(list, entries);
  }
}

const idOf = ({ id }: PrefixList, { cidr }: PrefixListEntry): string => `${id}/${cidr}`;

export const isListId = (target: string): boolean => target.startsWith('pl-');
