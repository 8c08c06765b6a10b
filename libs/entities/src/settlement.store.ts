import {
  overallStatus,
  resourceIpMoves,
  sessionStatus,
  type OrganizationId,
  type RuleState,
  type SessionStatus,
  type SettledIp,
} from '#rules';
import { AuditStore } from './audit.store';
import type { Trail } from './closing';
import { returned, type Tx } from './database';
import type { Access, HolderRow } from './convergence.store';
import { LeaseStore, type Lease } from './lease.store';
import { byKey } from './by-key';
import { lockOwners } from './lock-owners';
import {
  sessionMoved,
  staticRuleSettled,
  type AffectedSession,
  type AffectedStaticRule,
} from './settlement-records';
import { HOLDING, LEAVING } from './status-lists';

/** What a look at the cloud settled for one rule, to be written under the lease it was found in. */
export interface RuleSettlement {
  readonly ruleId: string;
  /** the rule's revision when it was looked at: changed since, it stays due */
  readonly revision: number;
  /** null: as it was */
  readonly state: RuleState | null;
  readonly providerRuleId: string | null;
  /** null: as it was */
  readonly isForeign: boolean | null;
  readonly attempts: number;
  /** look again after so many ms; null: settled */
  readonly dueInMs: number | null;
  /** the outcome of a call is still unknown */
  readonly inFlight: boolean;
  readonly message: string | null;
  /** the way it was written led to no cloud object; null: as it was */
  readonly targetMissing: boolean | null;
  /** adding it is given up for those who wait for it */
  readonly failed: boolean;
}

export interface Settlement {
  readonly rules: readonly RuleSettlement[];
  /** the way the look took; null when the cloud was not asked */
  readonly access: Access | null;
  /** the cloud answered */
  readonly looked: boolean;
  /** the waiting ResourceIps whose own way into the cloud this look took: those that were moved meanwhile wait on */
  readonly waiting: readonly Pick<HolderRow, 'resourceIpId' | 'pendingSince'>[];
  /** ResourceIps that have waited longer than this are failed when their rule is not there yet, seconds */
  readonly giveUpSeconds: number;
  /** the whole object could not be read: its other rules that wait for another try wait for the same one */
  readonly together?: boolean;
}

/** What a settlement came to. */
export interface Settled {
  /** of each ResourceIp that was seen to be out: seconds since it was let go */
  readonly latenessSeconds: readonly number[];
}

interface AffectedIp extends SettledIp {
  organizationId: OrganizationId;
  sessionId: string | null;
  staticIpRuleId: string | null;
}

/**
 * For `WHERE`: the rule stands as seen by the way of this look ($2, $3), and nobody who holds it goes the way it was
 * written any more: it is revoked by this one, so that the old credential may go. Never by another organization's:
 * a credential that may only read would not close what the writer's can.
 */
const ADOPTED = `(s.state = 'present' AND $2::uuid IS NOT NULL
    AND (r.credential_id IS DISTINCT FROM $2::uuid OR r.region IS DISTINCT FROM $3::text)
    AND (r.credential_id IS NULL OR EXISTS (
      SELECT FROM credentials written JOIN credentials seen ON seen.organization_id = written.organization_id
      WHERE written.id = r.credential_id AND seen.id = $2::uuid))
    AND NOT EXISTS (
      SELECT FROM rule_holders holder CROSS JOIN LATERAL ${byKey('resource_ips', 'holder.resource_ip_id')} ip
      JOIN resources res ON res.id = ip.resource_id
      WHERE holder.rule_id = r.id AND ip.status IN (${HOLDING})
        AND res.credential_id = r.credential_id AND res.region IS NOT DISTINCT FROM r.region))`;

/** A rule's state for those who wait for it: one that is due and was not part of this look ($1) may be gone by now. */
const LOOKED_AT = `CASE WHEN r.state = 'present' AND r.due_at IS NOT NULL AND NOT r.id = ANY ($1::uuid[])
    THEN 'unknown' ELSE r.state END`;

/** For `WHERE`: the ResourceIp waits for this look ($2), as it did when the look began ($6). */
const waited = (ip: string): string =>
  `(${ip}.id, ${ip}.pending_since) IN (SELECT id, since FROM unnest($2::uuid[], $6::timestamptz[]) AS waiting (id, since))`;

/** Writes what was observed, and what follows from it: rules, then ResourceIps, then sessions, in one transaction. */
export class SettlementStore {
  private readonly audit = new AuditStore();
  private readonly leases = new LeaseStore();

  /** @returns null when the lease was lost meanwhile: nothing is written */
  async settle(tx: Tx, lease: Lease, settlement: Settlement, trail: Trail): Promise<Settled | null> {
    const ruleIds = settlement.rules.map((rule) => rule.ruleId);
    if (!(await this.leases.lock(tx, lease))) return null;
    await lockOwners(
      tx,
      `rule_holders holder JOIN resource_ips ip ON ip.id = holder.resource_ip_id
       WHERE holder.rule_id = ANY ($1::uuid[]) AND ip.status IN ('PENDING', 'REMOVING')`,
      [ruleIds],
    );
    await this.writeRules(tx, lease, settlement);
    const affected = await this.affectedIps(tx, ruleIds, settlement);
    const { moved, latenessSeconds } = await this.writeIps(tx, affected, settlement);
    await this.writeSessions(tx, trail, [...new Set(moved.flatMap((ip) => ip.sessionId ?? []))]);
    await this.auditStaticRules(tx, trail, [...new Set(moved.flatMap((ip) => ip.staticIpRuleId ?? []))]);
    return { latenessSeconds };
  }

  private async writeRules(tx: Tx, lease: Lease, { rules, access, together }: Settlement): Promise<void> {
    await tx.query(
      `UPDATE rules r SET state = coalesce(s.state, r.state), is_foreign = coalesce(s."isForeign", r.is_foreign),
         provider_rule_id = coalesce(s."providerRuleId", CASE WHEN s.state = 'absent' THEN NULL ELSE r.provider_rule_id END),
         attempts = CASE WHEN r.revision = s.revision THEN s.attempts ELSE 0 END,
         due_at = CASE WHEN r.revision <> s.revision THEN r.due_at
           ELSE now() + make_interval(secs => s."dueInMs" / 1000.0) END,
         in_flight_until = CASE WHEN s."inFlight" THEN r.in_flight_until END,
         last_error = s.message,
         target_missing_since = CASE WHEN s."targetMissing" IS NULL THEN r.target_missing_since
           WHEN s."targetMissing" THEN coalesce(r.target_missing_since, now()) END,
         region = CASE WHEN ${ADOPTED} THEN $3 ELSE r.region END,
         credential_id = CASE WHEN ${ADOPTED} THEN $2 ELSE r.credential_id END
       FROM jsonb_to_recordset($1::jsonb) AS s("ruleId" uuid, revision int, state text, "providerRuleId" text,
         "isForeign" boolean, attempts int, "dueInMs" float8, "inFlight" boolean, message text, "targetMissing" boolean)
       WHERE r.id = s."ruleId"`,
      [JSON.stringify(rules), access?.credentialId ?? null, access?.region ?? null],
    );
    if (!together) return;
    await tx.query(
      `UPDATE rules SET due_at = now() + make_interval(secs => $3 / 1000.0)
       WHERE id IN (
         SELECT id FROM rules
         WHERE target_id = $1 AND id <> ALL ($2::uuid[]) AND attempts > 0 AND due_at > now()
         FOR NO KEY UPDATE SKIP LOCKED)`,
      [lease.targetId, rules.map((rule) => rule.ruleId), Math.max(...rules.map((rule) => rule.dueInMs ?? 0))],
    );
  }

  private affectedIps(tx: Tx, ruleIds: readonly string[], settlement: Settlement): Promise<AffectedIp[]> {
    return tx.query(
      `SELECT ip.id, ip.organization_id AS "organizationId", ip.session_id AS "sessionId",
         ip.static_ip_rule_id AS "staticIpRuleId", ip.status, ip.pending_since < now() - make_interval(secs => $3) AS overdue,
         ARRAY(SELECT jsonb_build_object('ruleId', r.id, 'state', ${LOOKED_AT}, 'providerRuleId', r.provider_rule_id,
             'lastError', r.last_error, 'keptByOthers', EXISTS (
               SELECT FROM rule_holders h CROSS JOIN LATERAL ${byKey('resource_ips', 'h.resource_ip_id')} other
               WHERE h.rule_id = r.id AND other.id <> ip.id AND other.status IN (${HOLDING})
                 AND NOT (other.status = 'PENDING' AND ${waited('other')})),
             'waitingOthers', ARRAY(
               SELECT other.id FROM rule_holders h CROSS JOIN LATERAL ${byKey('resource_ips', 'h.resource_ip_id')} other
               WHERE h.rule_id = r.id AND other.id <> ip.id AND other.status = 'PENDING' AND ${waited('other')}))
           FROM rule_holders holder CROSS JOIN LATERAL ${byKey('rules', 'holder.rule_id')} r
           WHERE holder.resource_ip_id = ip.id ORDER BY r.key) AS rules
       FROM (SELECT DISTINCT resource_ip_id FROM rule_holders WHERE rule_id = ANY ($1::uuid[]) OFFSET 0) touched
       CROSS JOIN LATERAL ${byKey('resource_ips', 'touched.resource_ip_id')} ip
       WHERE ip.status = 'REMOVING' OR (ip.status = 'PENDING' AND ${waited('ip')} AND ($4::uuid IS NULL OR EXISTS (
         SELECT FROM resources own WHERE own.id = ip.resource_id
           AND own.credential_id = $4 AND own.region IS NOT DISTINCT FROM $5::text)))`,
      [
        ruleIds,
        settlement.waiting.map(({ resourceIpId }) => resourceIpId),
        settlement.giveUpSeconds,
        settlement.access?.credentialId ?? null,
        settlement.access?.region ?? null,
        settlement.waiting.map(({ pendingSince }) => pendingSince),
      ],
    );
  }

  private async writeIps(
    tx: Tx,
    affected: AffectedIp[],
    settlement: Settlement,
  ): Promise<Settled & { moved: AffectedIp[] }> {
    const failed = new Set(settlement.rules.filter((rule) => rule.failed).map((rule) => rule.ruleId));
    const moves = resourceIpMoves(affected, failed, settlement.looked).map(({ ip, move }) => ({
      ip,
      row: { id: ip.id, from: ip.status, ...move },
    }));
    if (moves.length === 0) return { moved: [], latenessSeconds: [] };
    const [written] = await tx.query<{ latenessSeconds: number[] }[]>(
      `WITH moved AS (
         UPDATE resource_ips ip SET status = m."to", error_message = m."errorMessage",
           provider_rule_id = CASE WHEN m."to" = 'APPLIED' THEN m."providerRuleId" ELSE ip.provider_rule_id END,
           applied_at = CASE WHEN m."to" = 'APPLIED' THEN now() ELSE ip.applied_at END,
           removed_at = CASE WHEN m."to" = 'REMOVED' THEN now() ELSE ip.removed_at END
         FROM jsonb_to_recordset($1::jsonb)
           AS m(id uuid, "from" text, "to" text, "errorMessage" text, "providerRuleId" text)
         WHERE ip.id = m.id AND ip.status = m."from" RETURNING ip.id, ip.status, ip.released_at
       ), unwanted AS (
         UPDATE rules SET due_at = now(), revision = revision + 1, closing = true
         WHERE state <> 'absent' AND id IN (
           SELECT holder.rule_id FROM rule_holders holder JOIN moved ON moved.id = holder.resource_ip_id
           WHERE moved.status = 'FAILED')
       )
       SELECT ARRAY(SELECT extract(epoch FROM clock_timestamp() - released_at)::float8 FROM moved
         WHERE status = 'REMOVED' AND released_at IS NOT NULL) AS "latenessSeconds"`,
      [JSON.stringify(moves.map(({ row }) => row))],
    );
    return { moved: moves.map(({ ip }) => ip), latenessSeconds: written!.latenessSeconds };
  }

  private async writeSessions(tx: Tx, trail: Trail, sessionIds: readonly string[]): Promise<void> {
    if (sessionIds.length === 0) return;
    const sessions = await tx.query<AffectedSession[]>(
      `SELECT s.id, s.organization_id AS "organizationId", s.status, s.ended_reason AS "endedReason",
         s.user_id AS "userId", u.email AS "userEmail",
         (SELECT min(ip.error_message) FROM resource_ips ip
          WHERE ip.session_id = s.id AND ip.status = 'FAILED') AS "errorMessage",
         ARRAY(SELECT ip.status FROM resource_ips ip WHERE ip.session_id = s.id) AS statuses
       FROM sessions s JOIN users u ON u.id = s.user_id WHERE s.id = ANY ($1::uuid[])`,
      [sessionIds],
    );
    const moves = sessions
      .map((session) => ({
        session,
        to: sessionStatus(session.status, session.statuses, session.endedReason),
      }))
      .filter(({ session, to }) => to !== session.status);
    const moved = returned<{ id: string }>(
      await tx.query(
        `UPDATE sessions s SET status = m."to" FROM jsonb_to_recordset($1::jsonb) AS m(id uuid, "from" text, "to" text)
         WHERE s.id = m.id AND s.status = m."from" RETURNING s.id`,
        [JSON.stringify(moves.map(({ session, to }) => ({ id: session.id, from: session.status, to })))],
      ),
    );
    const written = new Set(moved.map((row) => row.id));
    await this.auditMoves(
      tx,
      trail,
      moves.filter(({ session }) => written.has(session.id)),
    );
  }

  /** A static IP rule leaves a record when it waits for nothing any more. */
  private async auditStaticRules(tx: Tx, trail: Trail, ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return;
    const rules = await tx.query<AffectedStaticRule[]>(
      `SELECT id, organization_id AS "organizationId", label, ip_address AS "ipAddress",
         ARRAY(SELECT ip.status FROM resource_ips ip
           WHERE ip.static_ip_rule_id = r.id AND ip.status NOT IN (${LEAVING})) AS statuses
       FROM static_ip_rules r WHERE id = ANY ($1::uuid[]) AND deleted_at IS NULL`,
      [ids],
    );
    for (const rule of rules) {
      const status = rule.statuses.length === 0 ? 'PENDING' : overallStatus(rule.statuses);
      if (status !== 'PENDING')
        await this.audit.writeClosing(tx, rule.organizationId, trail, staticRuleSettled(rule, status));
    }
  }

  private async auditMoves(
    tx: Tx,
    trail: Trail,
    moves: readonly { session: AffectedSession; to: SessionStatus }[],
  ): Promise<void> {
    for (const organization of new Set(moves.map(({ session }) => session.organizationId))) {
      const entries = moves
        .filter(({ session }) => session.organizationId === organization)
        .map(({ session, to }) => sessionMoved(session, to));
      await this.audit.writeClosing(tx, organization, trail, ...entries);
    }
  }
}
