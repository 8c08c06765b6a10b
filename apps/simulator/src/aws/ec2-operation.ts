import type { CallEffect } from '../faults/fault-script';
import type { CallModifiers } from '../faults/serve-call';
import type { PrefixLists } from './prefix-lists';
import type { QueryForm } from './query-form';
import type { SecurityGroups } from './security-groups';
import type { XmlStructure } from './xml';

/** What the account has. */
export interface Ec2Account {
  readonly groups: SecurityGroups;
  readonly lists: PrefixLists;
}

/** An EC2 action. */
export interface Ec2Operation {
  readonly effect: CallEffect;
  /** ids of the targets that a request names, whether or not they exist */
  targets(form: QueryForm, account: Ec2Account): string[];
  /** number of rules or entries that a write names */
  readonly items?: (form: QueryForm) => number;
  /** addresses in a write, not validated, a single one bare; by default those in its permissions */
  readonly addresses?: (form: QueryForm) => string[];
  /** Executes the action, or with `DryRun` only checks it. @throws CloudError */
  perform(form: QueryForm, account: Ec2Account, how: CallModifiers): XmlStructure;
  /** Accepts a change that fails later; without it, `fail-later` answers with an error at once. */
  readonly failLater?: (form: QueryForm, account: Ec2Account) => XmlStructure;
}

/** The target of an action that names one. @param name of the parameter */
export const targetIn =
  (name: string) =>
  (form: QueryForm): string[] => {
    const id = form.text(name);
    return id === undefined ? [] : [id];
  };

/** The items of a write to apply: the first half of them with a `partial` fault. */
export const itemsToApply = <T>(items: readonly T[], how: CallModifiers): readonly T[] =>
  how.firstHalf ? items.slice(0, Math.ceil(items.length / 2)) : items;

export const isDryRun = (form: QueryForm): boolean => form.text('DryRun')?.toLowerCase() === 'true';
