import { randomUUID } from 'node:crypto';
import type { LedgerRow, Reading, ReportedRule, EngineStore } from '#engine-store';
import type { Tx } from '#entities';
import { APPLY_TIMEOUT_MS, RULE_BACKOFF, type RuleSettlement } from '#rules';
import type { Remark } from './rule-events';
import { settle } from './settle';

/** An agent's report on one rule of its host. */
interface AgentResult {
  readonly ruleId: string;
  readonly status: 'APPLIED' | 'FAILED' | 'REMOVED';
  readonly errorMessage: string | null;
}

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
  const rules = await stores.watch.reported(tx, lease.targetId, [...results.keys()], report.cleared);
  const settled =
    rules.length === 0
      ? null
      : await settle(
          tx,
          stores,
          lease,
          {
            rules: rules.map((rule) => settlementOf(rule, results.get(rule.ruleId))),
            access: null,
            reading: () => JUST_NOW,
            waiting: rules.flatMap((rule) => rule.waiting),
            giveUpSeconds: APPLY_TIMEOUT_MS / 1000,
            remarks: remarksOf(rules, results),
          },
          { workerId: reporter, passId: randomUUID(), credentialId: null },
        );
  await stores.leases.release(tx, lease);
  return settled?.events ?? [];
}

function remarksOf(
  rules: readonly ReportedRule[],
  results: ReadonlyMap<string, AgentResult>,
): Map<string, Remark> {
  return new Map(
    rules.flatMap(({ ruleId, desired }): [string, Remark][] => {
      const result = results.get(ruleId);
      if (desired || result?.status !== 'FAILED') return [];
      return [[ruleId, { refusal: result.errorMessage ?? 'The agent could not remove it' }]];
    }),
  );
}

/** @param result undefined: the rule is not present */
function settlementOf(rule: ReportedRule, result: AgentResult | undefined): RuleSettlement {
  const { ruleId, revision, attempts, desired } = rule;
  const found: RuleSettlement = {
    ruleId,
    revision,
    state: 'absent',
    observedPresent: false,
    presentAtStart: false,
    providerRuleId: null,
    isUnmanaged: false,
    isUnmarked: false,
    attempts: 0,
    dueInMs: desired ? 0 : null,
    inFlight: false,
    message: null,
    targetMissing: null,
    failed: false,
    unwanted: desired ? null : (rule.cause ?? 'UNRECORDED'),
    addCause: rule.addCause ?? 'SESSION_STARTED',
    adopt: null,
  };
  switch (result?.status) {
    case 'APPLIED':
      // an unwanted rule stays due until it is removed
      return {
        ...found,
        state: 'present',
        observedPresent: true,
        providerRuleId: ruleId,
        dueInMs: desired ? null : RULE_BACKOFF.capMs,
      };
    case 'FAILED': {
      const failed = { ...found, attempts: attempts + 1, message: result.errorMessage };
      if (!desired) return { ...failed, state: null, dueInMs: RULE_BACKOFF.capMs };
      // the agent keeps retrying for applied holders, and reports when the rule is present again
      return { ...failed, failed: true, state: rule.isApplied ? 'unknown' : 'absent', dueInMs: null };
    }
    case 'REMOVED':
    case undefined:
      return found;
  }
}
