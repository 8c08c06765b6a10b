import type { AdditionCause, RemovalCause } from '#rules';
import { HOLDING, type Tx } from '#entities';
import { byKey } from './by-key';
import { ms } from './columns';
import type { HolderRow } from './due-rule';

/** A rule covered by an agent's report, unchanged since it was offered to the agent. */
export interface ReportedRule {
  readonly ruleId: string;
  readonly revision: number;
  readonly attempts: number;
  readonly desired: boolean;
  /** APPLIED for a holder */
  readonly isApplied: boolean;
  readonly cause: RemovalCause | null;
  readonly addCause: AdditionCause | null;
  readonly waiting: Pick<HolderRow, 'resourceIpId' | 'pendingSince'>[];
}

/** The live holders of the rule `r` that are in these statuses. */
const holders = (statuses: string, columns = ''): string => `SELECT ${columns} FROM rule_holders holder
  CROSS JOIN LATERAL ${byKey('resource_ips', 'holder.resource_ip_id')} ip
  WHERE holder.rule_id = r.id AND holder.released_at IS NULL AND ip.status IN (${statuses})`;

/** The rules that agents report on. */
export class AgentSettlementStore {
  async targetOf(tx: Tx, targetKey: string): Promise<string | null> {
    const [target] = await tx.query<{ id: string }[]>('SELECT id FROM targets WHERE key = $1', [targetKey]);
    return target?.id ?? null;
  }

  /**
   * The reported rules whose holders have not changed since they were offered. Changed ones are offered and reported again.
   * @param cleared the host has no other rules than those of the reported version
   */
  reported(tx: Tx, targetId: string, ruleIds: readonly string[], cleared: boolean): Promise<ReportedRule[]> {
    return tx.query(
      `SELECT r.id AS "ruleId", r.revision, r.attempts, r.cause, EXISTS (${holders(HOLDING)}) AS desired,
         EXISTS (${holders(`'APPLIED'`)}) AS "isApplied",
         (SELECT h.cause FROM rule_holders h WHERE h.rule_id = r.id ORDER BY h.released_at NULLS FIRST LIMIT 1) AS "addCause",
         ARRAY(${holders(`'PENDING'`, `jsonb_build_object('resourceIpId', ip.id, 'pendingSince', ${ms('ip.pending_since')})`)}) AS waiting
       FROM rules r WHERE r.target_id = $1 AND r.offered_revision = r.revision AND (r.id = ANY ($2::uuid[])
         OR ($3 AND r.state <> 'absent' AND NOT EXISTS (${holders(HOLDING)})))
       ORDER BY r.id`,
      [targetId, ruleIds, cleared],
    );
  }

  /**
   * Rules without holders that the host's kernel expired more than a minute ago, and that the agent has not reported on
   * since.
   */
  async endedByKernel(tx: Tx, targetId: string): Promise<string[]> {
    const rows = await tx.query<{ id: string }[]>(
      `SELECT r.id FROM rules r
       WHERE r.target_id = $1 AND r.state <> 'absent' AND r.offered_until < now() - interval '1 minute'
         AND NOT EXISTS (${holders(HOLDING)})`,
      [targetId],
    );
    return rows.map(({ id }) => id);
  }
}
