import type { Found } from '../nft/guard';
import type { HostState } from '../state/host-state';

export interface Result {
  readonly ruleId: string;
  readonly status: 'APPLIED' | 'FAILED' | 'REMOVED';
  readonly errorMessage?: string;
}

export interface Report {
  readonly results: readonly Result[];
  /** nothing is open on the host but what the state names */
  readonly cleared: boolean;
}

/** What was done for a state, and what was read back. */
export interface Outcome {
  readonly state: HostState;
  /** rules that are over have no entry */
  readonly keysOf: ReadonlyMap<string, readonly string[]>;
  /** null: the table could not be read */
  readonly found: Found | null;
  /** what nft said when something did not work */
  readonly trouble: string | null;
}

/** What was told of earlier states. */
export interface Told {
  /** rules that a report said, or was to say, are there */
  readonly named: ReadonlySet<string>;
  /** rules that were told to have failed */
  readonly failed: ReadonlySet<string>;
}

export const NOTHING_TOLD: Told = { named: new Set(), failed: new Set() };

/** So many results fit into one report. */
export const MAX_RESULTS = 1000;
const MAX_MESSAGE_LENGTH = 500;

/**
 * What to tell: what somebody waits for, what has changed for the worse or the better, and what is gone. Only what was
 * read is told.
 */
export function resultsOf(
  { state, keysOf, found, trouble }: Outcome,
  told: Told,
): { results: Result[]; told: Told } {
  const failed = new Set<string>();
  const results: Result[] = [];
  const fail = (ruleId: string, words: string): void => {
    failed.add(ruleId);
    results.push({ ruleId, status: 'FAILED', errorMessage: words.slice(0, MAX_MESSAGE_LENGTH) });
  };
  for (const ruleId of state.unreadable) fail(ruleId, 'This agent cannot read the rule: renew it');
  for (const { id, unconfirmed } of state.rules) {
    const keys = keysOf.get(id);
    if (!keys) continue;
    if (!found) {
      // nobody can say whether it stands: that alone is no news of a rule that did
      if (unconfirmed) fail(id, trouble ?? 'The table could not be read');
      else if (told.failed.has(id)) failed.add(id);
    } else if (!keys.every((key) => found.standing.has(key))) {
      fail(id, trouble ?? 'It was not there when it was read back');
    } else if (unconfirmed || told.failed.has(id)) results.push({ ruleId: id, status: 'APPLIED' });
  }
  const named = new Set([...state.rules.map(({ id }) => id), ...state.unreadable]);
  const gone = [...told.named].filter((id) => !named.has(id));
  // what could not be read is not gone: it stays named until it is
  if (!found?.exact) return { results, told: { named: new Set([...named, ...gone]), failed } };
  results.push(...gone.map((ruleId): Result => ({ ruleId, status: 'REMOVED' })));
  return { results, told: { named, failed } };
}

/** In parts that a server takes. @param cleared is told with the last */
export function reportsOf(results: readonly Result[], cleared: boolean): Report[] {
  const reports: Report[] = [];
  for (let from = 0; from < Math.max(1, results.length); from += MAX_RESULTS) {
    const isLast = from + MAX_RESULTS >= results.length;
    reports.push({ results: results.slice(from, from + MAX_RESULTS), cleared: cleared && isLast });
  }
  return reports;
}
