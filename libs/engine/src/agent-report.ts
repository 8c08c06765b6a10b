import type { EngineStore, LedgerRow, Reading } from '#engine-store';
import type { Tx } from '#entities';
import { reported, type AgentResult } from '#rules';
import { originOf } from './ledger-rows';
import { settle } from './settle';

export interface AgentReport {
  readonly results: readonly AgentResult[];
  /** the host has no other rules than those of the reported version */
  readonly cleared: boolean;
}

const LEASE_SECONDS = 10;
/** A report describes the host at the time of the request. */
const JUST_NOW: Reading = { startedAgoMs: 0, firstStartedAgoMs: 0, endedAgoMs: 0 };

/**
 * Settles an agent's report, with the same function as passes on clouds. Call it for a report on the last offered version,
 * with the agent locked in this transaction.
 * @param reporter for the ledger
 * @returns the recorded events
 */
export async function settleReport(
  tx: Tx,
  stores: EngineStore,
  targetKey: string,
  report: AgentReport,
  reporter: string,
): Promise<readonly LedgerRow[]> {
  const targetId = await stores.watch.targetOf(tx, targetKey);
  // leases on hosts are held within one transaction: this waits for it, and never finds the lease taken
  const lease = targetId === null ? null : await stores.leases.take(tx, targetId, LEASE_SECONDS, false);
  if (!lease) return [];
  const results = new Map(report.results.map((result) => [result.ruleId, result]));
  const ruleIds = await stores.watch.findReported(tx, lease.targetId, [...results.keys()], report.cleared);
  const settled =
    ruleIds.length === 0
      ? null
      : await settle(
          tx,
          stores,
          lease,
          {
            ruleIds,
            decide: (rules, moment) => rules.map((rule) => reported(rule, results.get(rule.ruleId), moment)),
            reading: () => JUST_NOW,
            chance: 0,
          },
          originOf(reporter),
        );
  await stores.leases.release(tx, lease);
  return settled?.events ?? [];
}
