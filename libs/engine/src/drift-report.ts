import { DriverError, type Inspection } from '#drivers';
import type { HealthReport, KnownRules, AccessPath } from '#engine-store';
import {
  grouped,
  RETRYABLE_KINDS,
  unwantedRules,
  type Drift,
  type ObservedRule,
  type TimedRead,
} from '#rules';
import { healthReports } from './health-reports';
import { NO_UNISSUED, type UnissuedOrphans } from './unissued-orphans';

/** Changes listed in one message. */
const MAX_LISTED = 5;

/** A read of the target through an access path, or its failure. */
export interface PathRead {
  readonly path: AccessPath;
  readonly read: (TimedRead & Inspection) | DriverError;
  /** whose write budget calls through the path spend; omitted: nothing proves that it may write */
  readonly accountKey?: string;
}

/** Health reports of each resource; none after a retryable failure. */
export function reportsOf(
  reads: readonly PathRead[],
  known: KnownRules,
  found: { readonly drift: Drift; readonly unissued?: typeof NO_UNISSUED } | null,
  suspended: number,
  requested: boolean,
): HealthReport[] {
  const { drift = null, unissued = NO_UNISSUED } = found ?? {};
  return reads.flatMap(({ path, read }) => {
    if (read instanceof DriverError && RETRYABLE_KINDS.has(read.kind)) return [];
    if (read instanceof DriverError)
      return healthReports(path.resources, `It could not be read: ${read.message}`, requested, true);
    const problem = problemOf(known, drift!, suspended, read.rules, unissued);
    return path.resources.flatMap((resource) => {
      const open = read.explainOpen(resource.config);
      const isForPeople = open !== null || unissued.question !== null || needsPeople(drift!, suspended);
      return healthReports([resource], withOpen(open, problem), requested, isForPeople);
    });
  });
}

/** Joins why a target restricts nothing with its other problem, which may say so already. */
const withOpen = (open: string | null, problem: string | null): string | null =>
  open === null || problem?.includes(open)
    ? problem
    : [open, ...(problem === null ? [] : [problem])].join('. ');

/** Whether something stays as it is until people change it. */
const needsPeople = ({ taken, withoutEffect }: Drift, suspended: number): boolean =>
  suspended + taken.length + withoutEffect.length > 0;

/** The health message for drift; null: no drift. */
function problemOf(
  known: KnownRules,
  { missing, changed, stale, orphans, taken, withoutEffect, unmanaged }: Drift,
  suspended: number,
  observed: readonly ObservedRule[],
  { question, held }: UnissuedOrphans,
): string | null {
  const isLeftAlone =
    suspended > 0 ||
    known.rules.some(({ desired, state, targetMissing }) => desired && state === 'absent' && !targetMissing);
  const unwanted = unwantedRules(known.rules, observed).length - stale.length - orphans.length - held;
  const repaired = missing.length - suspended;
  // a write is believed when a read shows its effect
  const isChanged = new Set(changed.map(({ ruleId }) => ruleId));
  const awaited = known.rules.filter(
    ({ ruleId, desired, state, isMissing }) =>
      desired && isMissing && state === 'unknown' && !isChanged.has(ruleId),
  ).length;
  const byOthers = [
    repaired > 0 ? `${repaired} missing, to be added again` : null,
    suspended > 0 ? `${suspended} missing, left alone for an hour: another program keeps removing it` : null,
    changed.length > 0
      ? `${changed.length} of ours changed, to be written again: ${listed(changed.map(({ changedTo }) => changedTo))}`
      : null,
    taken.length > 0 ? `${taken.length} of ours replaced by unmanaged rules` : null,
  ];
  // our own refused change leaves the same behind as another program
  const byAnyone = [
    suspended === 0 && missing.length === 0 && isLeftAlone
      ? 'rules are missing and are left alone for now'
      : null,
    awaited > 0 ? `${awaited} missing, written again and not seen yet` : null,
    stale.length + orphans.length > 0
      ? `${stale.length + orphans.length} of ours that no holder wants, removal scheduled`
      : null,
    unwanted > 0 ? `${unwanted} of ours that should be gone, removal is retried` : null,
    withoutEffect.length > 0
      ? `${withoutEffect.length} without effect: ${listed(withoutEffect.map(({ message }) => message))}`
      : null,
  ];
  const parts = [
    ...sentence('Rules changed by another program', byOthers),
    ...sentence('Rules are not as they should be', byAnyone),
    ...(question === null ? [] : [question]),
  ];
  return parts.length === 0 ? null : `${parts.join('. ')} (${unmanaged.length} unmanaged rules left alone)`;
}

const sentence = (beginning: string, parts: readonly (string | null)[]): string[] => {
  const given = parts.filter((part) => part !== null);
  return given.length === 0 ? [] : [`${beginning}: ${given.join('; ')}`];
};

const listed = (texts: readonly string[]): string => {
  const distinct = [...new Set(texts)];
  return [...distinct.slice(0, MAX_LISTED), ...(distinct.length > MAX_LISTED ? ['…'] : [])].join(', ');
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
