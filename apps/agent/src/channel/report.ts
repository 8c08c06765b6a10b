import type { Traffic } from '#rules';
import type { GuardStatus } from '../guarding/guarded-ports';
import { guardElements } from '../nft/elements';
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
  /** what the host guards; left out while the server knows it */
  readonly guard?: ReportedGuard;
}

export interface ReportedGuard extends Omit<GuardStatus, 'connections'> {
  readonly connections: readonly { address: string; protocol: 'tcp'; port: number }[];
  /** of other programs, which may drop what the guard lets in */
  readonly otherChains: readonly string[];
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
  /** by rule id, why the host's own configuration does not admit it */
  readonly refused: ReadonlyMap<string, string>;
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
/** The server refuses bodies of more than 100 kB. */
const MAX_REPORT_BYTES = 60_000;

/**
 * The results to report: unconfirmed rules, rules that failed or recovered, and removed rules. A rule is reported as
 * present or removed only when it was read back so.
 */
export function resultsOf(
  { state, keysOf, observed, error, refused }: Outcome,
  reported: Reported,
): { results: Result[]; reported: Reported } {
  const failed = new Set<string>();
  const results: Result[] = [];
  const fail = (ruleId: string, message: string): void => {
    failed.add(ruleId);
    results.push({ ruleId, status: 'FAILED', errorMessage: message.slice(0, MAX_MESSAGE_LENGTH) });
  };
  for (const ruleId of state.unreadable) fail(ruleId, 'This agent cannot read the rule: upgrade it');
  for (const [ruleId, reason] of refused) fail(ruleId, reason);
  for (const { id, unconfirmed } of state.rules.filter((rule) => !refused.has(rule.id))) {
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

/** The server accepts this many entries in a list of traffic, and this many ports in each. */
const MAX_TRAFFIC = 8;
const MAX_PORTS = 1000;
const MAX_REFUSALS = 20;
const MAX_CHAINS = 20;
const MAX_CHAIN_LENGTH = 200;

/**
 * A status within the limits of the server. What exceeds them is left out.
 * @param present elements of the table that were read back: nothing else counts as guarded
 */
export function reportedGuard(
  status: GuardStatus,
  present: ReadonlySet<string>,
  otherChains: readonly string[],
): ReportedGuard {
  const { waiting, leftAlone, refused, connections } = status;
  const isPresent = (traffic: Traffic): boolean =>
    [...guardElements([traffic], []).keys()].every((key) => present.has(key));
  const guarded = status.guarded.flatMap(({ protocol, ports }): Traffic[] => {
    if (ports.length === 0) return isPresent({ protocol, ports }) ? [{ protocol, ports }] : [];
    const closed = ports.filter((port) => isPresent({ protocol, ports: [port] }));
    return closed.length === 0 ? [] : [{ protocol, ports: closed }];
  });
  return {
    guarded: split(guarded).slice(0, MAX_TRAFFIC),
    waiting: split(waiting).slice(0, MAX_TRAFFIC),
    leftAlone: split(leftAlone).slice(0, MAX_TRAFFIC),
    refused: split(refused).slice(0, MAX_REFUSALS),
    connections: connections.map(({ address, port }) => ({ address, protocol: 'tcp', port })),
    otherChains: otherChains
      .slice(0, MAX_CHAINS)
      .map((name) => name.replaceAll(/[^ -~]/g, '?').slice(0, MAX_CHAIN_LENGTH)),
  };
}

const split = <T extends Traffic>(traffic: readonly T[]): T[] =>
  traffic.flatMap((entry) => {
    const count = Math.max(1, Math.ceil(entry.ports.length / MAX_PORTS));
    return Array.from({ length: count }, (_, index) => ({
      ...entry,
      ports: entry.ports.slice(index * MAX_PORTS, (index + 1) * MAX_PORTS),
    }));
  });

/** Splits results into batches that the server accepts. @param cleared goes into the last report, as the guard does */
export function reportsOf(
  results: readonly Result[],
  cleared: boolean,
  guard: ReportedGuard | null,
): Report[] {
  const batches: Result[][] = [[]];
  let bytes = 0;
  for (const result of results) {
    const size = JSON.stringify(result).length;
    if (batches.at(-1)!.length === MAX_RESULTS || bytes + size > MAX_REPORT_BYTES) {
      batches.push([]);
      bytes = 0;
    }
    batches.at(-1)!.push(result);
    bytes += size;
  }
  const reports = batches.map((batch, index) => ({
    results: batch,
    cleared: cleared && index === batches.length - 1,
  }));
  // with many ports it may be as large as a batch
  return guard ? [...reports, { results: [], cleared, guard }] : reports;
}
