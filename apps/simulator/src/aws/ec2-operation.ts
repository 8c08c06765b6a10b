import type { CallEffect } from '../faults/fault-script';
import type { Performance } from '../faults/play-fault';
import { addressesIn } from './permissions';
import type { QueryForm } from './query-form';
import type { XmlStructure } from './xml';

/** One action of EC2, on the objects of one kind. */
export interface Ec2Operation<Objects> {
  readonly effect: CallEffect;
  /** the objects a request is about, known or not */
  targets(form: QueryForm, objects: Objects): string[];
  /** how many rules or entries a request names */
  items(form: QueryForm): number;
  /** the addresses a write names, a single one bare, without judging them; left out: those in its permissions */
  readonly addresses?: (form: QueryForm) => string[];
  /** Does it, or with `DryRun` only checks it. @throws AwsError */
  perform(form: QueryForm, objects: Objects, how: Performance): XmlStructure;
  /** Accepts a change that fails while it is carried out; left out: it has failed when it is answered. */
  readonly failLater?: (form: QueryForm, objects: Objects) => XmlStructure;
}

/** An action with the objects it works on. */
export interface BoundOperation {
  readonly effect: CallEffect;
  targets(form: QueryForm): string[];
  items(form: QueryForm): number;
  addresses(form: QueryForm): string[];
  perform(form: QueryForm, how: Performance): XmlStructure;
  readonly failLater?: (form: QueryForm) => XmlStructure;
}

export function bound<Objects>(operation: Ec2Operation<Objects>, objects: Objects): BoundOperation {
  const { failLater } = operation;
  return {
    effect: operation.effect,
    targets: (form) => operation.targets(form, objects),
    items: (form) => operation.items(form),
    addresses: operation.addresses ?? addressesIn,
    perform: (form, how) => operation.perform(form, objects, how),
    ...(failLater && { failLater: (form: QueryForm) => failLater(form, objects) }),
  };
}

/** What is left of a write's items when a fault lets only the first half through. */
export const portion = <T>(items: readonly T[], how: Performance): readonly T[] =>
  how.firstHalf ? items.slice(0, Math.ceil(items.length / 2)) : items;

export const isDryRun = (form: QueryForm): boolean => form.text('DryRun')?.toLowerCase() === 'true';
