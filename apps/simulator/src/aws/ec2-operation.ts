import type { CallEffect } from '../faults/fault-script';
import type { Performance } from '../faults/play-fault';
import type { QueryForm } from './query-form';
import type { SecurityGroups } from './security-groups';
import type { XmlStructure } from './xml';

/** One action of EC2. */
export interface Ec2Operation {
  readonly effect: CallEffect;
  /** the groups a request is about, known or not */
  targets(form: QueryForm, groups: SecurityGroups): string[];
  /** how many rules a request names */
  items(form: QueryForm): number;
  /** Does it, or with `DryRun` only checks it. @throws AwsError */
  perform(form: QueryForm, groups: SecurityGroups, how: Performance): XmlStructure;
}

/** What is left of a write's items when a fault lets only the first half through. */
export const portion = <T>(items: readonly T[], how: Performance): readonly T[] =>
  how.firstHalf ? items.slice(0, Math.ceil(items.length / 2)) : items;

export const isDryRun = (form: QueryForm): boolean => form.text('DryRun')?.toLowerCase() === 'true';
