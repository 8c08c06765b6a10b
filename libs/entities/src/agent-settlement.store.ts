import { APPLY_GIVE_UP_MS, RULE_BACKOFF, type OrganizationId } from '#rules';
import { byKey } from './by-key';
import type { Trail } from './closing';
import type { HolderRow } from './convergence.store';
import type { Tx } from './database';
import { LeaseStore } from './lease.store';
import { SettlementStore, type RuleSettlement } from './settlement.store';
import { HOLDING } from './status-lists';
import type { TenantStore } from './tenant-store';

/** What an agent found of one rule on its host. */
export interface AgentResult {
  readonly ruleId: string;
  readonly status: 'APPLIED' | 'FAILED' | 'REMOVED';
  readonly errorMessage: string | null;
}

export interface AgentReport {
  readonly results: readonly AgentResult[];
  /** nothing stands on the host but what the reported version names */
  readonly cleared: boolean;
}

interface ReportedRule {
  ruleId: string;
  revision: number;
  attempts: number;
  wanted: boolean;
  standing: boolean;
  waiting: Pick<HolderRow, 'resourceIpId' | 'pendingSince'>[];
}

const LEASE_SECONDS = 10;

/** The ResourceIps in these statuses that hold the rule `r`. */
const holders = (statuses: string, columns = ''): string => `SELECT ${columns} FROM rule_holders holder
  CROSS JOIN LATERAL ${byKey('resource_ips', 'holder.resource_ip_id')} ip
  WHERE holder.rule_id = r.id AND ip.status IN (${statuses})`;

/** Settles what agents report, by the same statements as what workers see in clouds. */
export class AgentSettlementStore implements TenantStore<AgentSettlementStore> {
  private readonly leases = new LeaseStore();
  private readonly settlements = new SettlementStore();

  /**
   * Call it for a report about the version that was told last, with the agent locked in this transaction. A rule whose
   * holders have changed since it was told is passed over: the agent is told anew, and reports anew. So is one of
   * another host.
   */
  async settle(
    tx: Tx,
    _organization: OrganizationId,
    targetKey: string,
    report: AgentReport,
    trail: Trail,
  ): Promise<void> {
    const [target] = await tx.query<{ id: string }[]>('SELECT id FROM targets WHERE key = $1', [targetKey]);
    // whoever works on the host does so in one transaction: it is waited for, never met
    const lease = target && (await this.leases.take(tx, target.id, LEASE_SECONDS));
    if (!lease) return;
    const results = new Map(report.results.map((result) => [result.ruleId, result]));
    const rules = await this.reported(tx, lease.targetId, [...results.keys()], report.cleared);
    if (rules.length > 0) {
      await this.settlements.settle(
        tx,
        lease,
        {
          rules: rules.map((rule) => settlementOf(rule, results.get(rule.ruleId))),
          access: null,
          looked: true,
          waiting: rules.flatMap((rule) => rule.waiting),
          giveUpSeconds: APPLY_GIVE_UP_MS / 1000,
        },
        trail,
      );
    }
    await this.leases.release(tx, lease);
  }

  private reported(
    tx: Tx,
    targetId: string,
    ruleIds: readonly string[],
    cleared: boolean,
  ): Promise<ReportedRule[]> {
    return tx.query(
      `SELECT r.id AS "ruleId", r.revision, r.attempts, EXISTS (${holders(HOLDING)}) AS wanted,
         EXISTS (${holders(`'APPLIED'`)}) AS standing, ARRAY(${holders(`'PENDING'`, `jsonb_build_object('resourceIpId', ip.id, 'pendingSince', ip.pending_since::text)`)}) AS waiting
       FROM rules r WHERE r.target_id = $1 AND r.offered_revision = r.revision AND (r.id = ANY ($2::uuid[])
         OR ($3 AND r.state <> 'absent' AND NOT EXISTS (${holders(HOLDING)})))
       ORDER BY r.id`,
      [targetId, ruleIds, cleared],
    );
  }
}

/** @param result undefined: it is none of those that stand */
function settlementOf(rule: ReportedRule, result: AgentResult | undefined): RuleSettlement {
  const { ruleId, revision, attempts, wanted } = rule;
  const found: RuleSettlement = {
    ruleId,
    revision,
    state: 'absent',
    providerRuleId: null,
    isForeign: false,
    attempts: 0,
    dueInMs: wanted ? 0 : null,
    inFlight: false,
    message: null,
    targetMissing: null,
    failed: false,
  };
  switch (result?.status) {
    case 'APPLIED':
      // one that is to go is looked after until it is gone
      return {
        ...found,
        state: 'present',
        providerRuleId: ruleId,
        dueInMs: wanted ? null : RULE_BACKOFF.capMs,
      };
    case 'FAILED': {
      const failed = { ...found, attempts: attempts + 1, message: result.errorMessage };
      if (!wanted) return { ...failed, state: null, dueInMs: RULE_BACKOFF.capMs };
      // for those it stood for, the agent goes on trying: it tells when it stands again
      return { ...failed, failed: true, state: rule.standing ? 'unknown' : 'absent', dueInMs: null };
    }
    case 'REMOVED':
    case undefined:
      return found;
  }
}
