import { DriverError } from '#drivers';
import type { HealthReport, KnownRules, ReconcileWay } from '#engine-store';
import { grouped, RETRYABLE_KINDS, unwantedRules, type Drift, type ObservedRule } from '#rules';
import { healthReports } from './health-reports';
import type { TimedRead } from './timed-read';

/** In one message. */
const MAX_NAMED = 5;

/** A way that was read, or the reason why it could not be. */
export interface Look {
  readonly way: ReconcileWay;
  readonly read: TimedRead | DriverError;
}

/** What to tell each resource; nothing after a failure that may pass. */
export function reportsOf(
  looks: readonly Look[],
  known: KnownRules,
  drift: Drift | null,
  suspended: number,
  requested: boolean,
): HealthReport[] {
  return looks.flatMap(({ way, read }) => {
    if (read instanceof DriverError && RETRYABLE_KINDS.has(read.kind)) return [];
    const problem =
      read instanceof DriverError
        ? `It could not be read: ${read.message}`
        : problemOf(known, drift!, suspended, read.rules);
    return healthReports(way.resources, problem, requested);
  });
}

/** What changed rules let in now, as far as a message goes. */
const changesOf = (changed: Drift['changed']): string => {
  const named = changed.slice(0, MAX_NAMED).map(({ changedTo }) => changedTo);
  return [...named, ...(changed.length > MAX_NAMED ? ['…'] : [])].join(', ');
};

/** What is not as it should be, in the present tense; null: nothing. */
function problemOf(
  known: KnownRules,
  { missing: gone, changed, stale, orphans, unmarked: bare, taken, unmanaged }: Drift,
  suspended: number,
  observed: readonly ObservedRule[],
): string | null {
  const isLeft =
    suspended > 0 ||
    known.rules.some(({ desired, state, targetMissing }) => desired && state === 'absent' && !targetMissing);
  const unwanted = unwantedRules(known.rules, observed).length - stale.length - orphans.length;
  const repaired = gone.length - suspended;
  const parts = [
    repaired > 0 ? `${repaired} missing, to be added again` : null,
    suspended > 0 ? `${suspended} missing, left alone for an hour: another program keeps removing it` : null,
    suspended === 0 && gone.length === 0 && isLeft ? 'rules are missing and are left alone for now' : null,
    stale.length + orphans.length > 0
      ? `${stale.length + orphans.length} of ours that no holder wants, removal scheduled`
      : null,
    unwanted > 0 ? `${unwanted} of ours that should be gone, removal is retried` : null,
    changed.length > 0
      ? `${changed.length} of ours changed under their id, left alone: ${changesOf(changed)}`
      : null,
    bare.length > 0 ? `${bare.length} of ours without our mark, recognised by their id` : null,
    taken.length > 0 ? `${taken.length} of ours replaced by unmanaged rules` : null,
  ].filter((part) => part !== null);
  if (parts.length === 0) return null;
  return `Rules changed by another program: ${parts.join('; ')} (${unmanaged.length} unmanaged rules left alone)`;
}

/** Rules that were observed before and are absent now, or another in their place, and that a pass is to settle. */
export function unseenRules({ rules }: KnownRules, observed: readonly ObservedRule[]): string[] {
  const seen = grouped(observed, ({ key }) => key);
  const isSeen = ({ key, providerRuleId }: KnownRules['rules'][number]): boolean =>
    (seen.get(key) ?? []).some((rule) => providerRuleId === null || rule.providerRuleId === providerRuleId);
  return rules
    .filter((rule) => rule.state !== 'absent' && rule.wasObserved && !isSeen(rule))
    .map(({ ruleId }) => ruleId);
}
