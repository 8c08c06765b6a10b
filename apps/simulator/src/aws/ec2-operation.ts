import type { CallEffect } from '../faults/fault-script';
import type { CallModifiers } from '../faults/apply-fault';
import { addressesIn } from './permissions';
import type { QueryForm } from './query-form';
import type { XmlStructure } from './xml';

/** An EC2 action on the targets of one collection. */
export interface Ec2Operation<Collection> {
  readonly effect: CallEffect;
  /** ids of the targets that a request names, whether or not they exist */
  targets(form: QueryForm, collection: Collection): string[];
  /** number of rules or entries that a request names */
  items(form: QueryForm): number;
  /** addresses in a write, not validated, a single one bare; by default those in its permissions */
  readonly addresses?: (form: QueryForm) => string[];
  /** Executes the action, or with `DryRun` only checks it. @throws AwsError */
  perform(form: QueryForm, collection: Collection, how: CallModifiers): XmlStructure;
  /** Accepts a change that fails later; without it, `fail-later` answers with an error at once. */
  readonly failLater?: (form: QueryForm, collection: Collection) => XmlStructure;
}

/** An action bound to its targets. */
export interface BoundOperation {
  readonly effect: CallEffect;
  targets(form: QueryForm): string[];
  items(form: QueryForm): number;
  addresses(form: QueryForm): string[];
  perform(form: QueryForm, how: CallModifiers): XmlStructure;
  readonly failLater?: (form: QueryForm) => XmlStructure;
}

export function bound<Collection>(
  operation: Ec2Operation<Collection>,
  collection: Collection,
): BoundOperation {
  const { failLater } = operation;
  return {
    effect: operation.effect,
    targets: (form) => operation.targets(form, collection),
    items: (form) => operation.items(form),
    addresses: operation.addresses ?? addressesIn,
    perform: (form, how) => operation.perform(form, collection, how),
    ...(failLater && { failLater: (form: QueryForm) => failLater(form, collection) }),
  };
}

/** The items of a write to apply: the first half of them with a `partial` fault. */
export const itemsToApply = <T>(items: readonly T[], how: CallModifiers): readonly T[] =>
  how.firstHalf ? items.slice(0, Math.ceil(items.length / 2)) : items;

export const isDryRun = (form: QueryForm): boolean => form.text('DryRun')?.toLowerCase() === 'true';
