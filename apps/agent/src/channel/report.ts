import type { Observed } from '../nft/guard';
import type { HostState } from '../state/host-state';

export interface Result {
  readonly ruleId: string;
  readonly status: 'APPLIED' | 'FAILED' | 'REMOVED';
  readonly errorMessage?: string;
}

export interface Report {
  readonly results: readonly Result[];
  /** nothing is open on the host except what the state names */
  readonly cleared: boolean;
}

/** What was applied for a state, and what was read back. */
export interface Outcome {
  readonly state: HostState;
  /** expired rules have no entry */
  readonly keysOf: ReadonlyMap<string, readonly string[]>;
  /** null: the table could not be read */
  readonly observed: Observed | null;
  /** nft's message when the state could not be applied */
  readonly error: string | null;
}

/** What was reported for earlier states. */
export interface Reported {
  /** rules of earlier states whose removal is not reported yet */
  readonly known: ReadonlySet<string>;
  /** rules that were reported as failed */
  readonly failed: ReadonlySet<string>;
}

export const NOTHING_REPORTED: Reported = { known: new Set(), failed: new Set() };

/** The server accepts this many results in one report. */
const MAX_RESULTS = 1000;
const MAX_MESSAGE_LENGTH = 500;

/**
 * The results to report: unconfirmed rules, rules that failed or recovered, and removed rules. A rule is reported as
 * present or removed only when it was read back so.
 */
export function resultsOf(
  { state, keysOf, observed, error }: Outcome,
  reported: Reported,
): { results: Result[]; reported: Reported } {
  const failed = new Set<string>();
  const results: Result[] = [];
  const fail = (ruleId: string, message: string): void => {
    failed.add(ruleId);
    results.push({ ruleId, status: 'FAILED', errorMessage: message.slice(0, MAX_MESSAGE_LENGTH) });
  };
  for (const ruleId of state.unreadable) fail(ruleId, 'This agent cannot read the rule: upgrade it');
  for (const { id, unconfirmed } of state.rules) {
    const keys = keysOf.get(id);
    if (!keys) continue;
    if (!observed) {
      // an unreadable table does not change the status of a rule that was confirmed before
      if (unconfirmed) fail(id, error ?? 'The table could not be read');
      else if (reported.failed.has(id)) failed.add(id);
    } else if (!keys.every((key) => observed.present.has(key))) {
      fail(id, error ?? 'The rule was not present when the table was read back');
    } else if (unconfirmed || reported.failed.has(id)) results.push({ ruleId: id, status: 'APPLIED' });
  }
  const known = new Set([...state.rules.map(({ id }) => id), ...state.unreadable]);
  const removed = [...reported.known].filter((id) => !known.has(id));
  // a removal that was not read back is reported by a later pass
  if (!observed?.exact) return { results, reported: { known: new Set([...known, ...removed]), failed } };
  results.push(...removed.map((ruleId): Result => ({ ruleId, status: 'REMOVED' })));
  return { results, reported: { known, failed } };
}

/** Splits results into batches that the server accepts. @param cleared goes into the last report */
export function reportsOf(results: readonly Result[], cleared: boolean): Report[] {
  const reports: Report[] = [];
  for (let from = 0; from < Math.max(1, results.length); from += MAX_RESULTS) {
    const isLast = from + MAX_RESULTS >= results.length;
    reports.push({ results: results.slice(from, from + MAX_RESULTS), cleared: cleared && isLast });
  }
  return reports;
}
