import { DriverError } from '#drivers';
import type { HealthReport, KnownRules, AccessPath } from '#engine-store';
import { grouped, RETRYABLE_KINDS, unwantedRules, type Drift, type ObservedRule } from '#rules';
import { healthReports } from './health-reports';
import type { TimedRead } from './provider-calls';

/** Changes listed in one message. */
const MAX_LISTED = 5;

/** A read of the target through an access path, or its failure. */
export interface PathRead {
  readonly path: AccessPath;
  readonly read: TimedRead | DriverError;
}

/** Health reports of each resource; none after a retryable failure. */
export function reportsOf(
  reads: readonly PathRead[],
  known: KnownRules,
  drift: Drift | null,
  suspended: number,
  requested: boolean,
): HealthReport[] {
  return reads.flatMap(({ path, read }) => {
    if (read instanceof DriverError && RETRYABLE_KINDS.has(read.kind)) return [];
    const problem =
      read instanceof DriverError
        ? `It could not be read: ${read.message}`
        : problemOf(known, drift!, suspended, read.rules);
    const isForPeople = read instanceof DriverError || needsPeople(drift!, suspended);
    return healthReports(path.resources, problem, requested, isForPeople);
  });
}

/** Whether something stays as it is until somebody else changes it. */
const needsPeople = ({ changed, taken, withoutEffect }: Drift, suspended: number): boolean =>
  suspended + changed.length + taken.length + withoutEffect.length > 0;

/** Lists what changed rules allow now, shortened for a message. */
const changesOf = (changed: Drift['changed']): string => {
  const listed = changed.slice(0, MAX_LISTED).map(({ changedTo }) => changedTo);
  return [...listed, ...(changed.length > MAX_LISTED ? ['…'] : [])].join(', ');
};

/** The health message for drift; null: no drift. */
function problemOf(
  known: KnownRules,
  { missing, changed, stale, orphans, unmarked, taken, withoutEffect, unmanaged }: Drift,
  suspended: number,
  observed: readonly ObservedRule[],
): string | null {
  const isLeftAlone =
    suspended > 0 ||
    known.rules.some(({ desired, state, targetMissing }) => desired && state === 'absent' && !targetMissing);
  const unwanted = unwantedRules(known.rules, observed).length - stale.length - orphans.length;
  const repaired = missing.length - suspended;
  const byOthers = [
    repaired > 0 ? `${repaired} missing, to be added again` : null,
    suspended > 0 ? `${suspended} missing, left alone for an hour: another program keeps removing it` : null,
    changed.length > 0
      ? `${changed.length} of ours changed under their id, left alone: ${changesOf(changed)}`
      : null,
    unmarked.length > 0 ? `${unmarked.length} of ours without our mark, recognised by their id` : null,
    taken.length > 0 ? `${taken.length} of ours replaced by unmanaged rules` : null,
  ];
  // our own refused change leaves the same behind as another program
  const byAnyone = [
    suspended === 0 && missing.length === 0 && isLeftAlone
      ? 'rules are missing and are left alone for now'
      : null,
    stale.length + orphans.length > 0
      ? `${stale.length + orphans.length} of ours that no holder wants, removal scheduled`
      : null,
    unwanted > 0 ? `${unwanted} of ours that should be gone, removal is retried` : null,
    withoutEffect.length > 0
      ? `${withoutEffect.length} without effect: ${[...new Set(withoutEffect.map(({ message }) => message))].slice(0, MAX_LISTED).join(', ')}`
      : null,
  ];
  const parts = [
    ...sentence('Rules changed by another program', byOthers),
    ...sentence('Rules are not as they should be', byAnyone),
  ];
  return parts.length === 0 ? null : `${parts.join('. ')} (${unmanaged.length} unmanaged rules left alone)`;
}

const sentence = (beginning: string, parts: readonly (string | null)[]): string[] => {
  const said = parts.filter((part) => part !== null);
  return said.length === 0 ? [] : [`${beginning}: ${said.join('; ')}`];
};

/** Rules observed before that are now absent or replaced by another, and that a pass has yet to settle. */
export function unobservedRules({ rules }: KnownRules, observed: readonly ObservedRule[]): string[] {
  const byKey = grouped(observed, ({ key }) => key);
  const isObserved = ({ key, providerRuleId }: KnownRules['rules'][number]): boolean =>
    (byKey.get(key) ?? []).some((rule) => providerRuleId === null || rule.providerRuleId === providerRuleId);
  return rules
    .filter((rule) => rule.state !== 'absent' && rule.wasObserved && !isObserved(rule))
    .map(({ ruleId }) => ruleId);
}
