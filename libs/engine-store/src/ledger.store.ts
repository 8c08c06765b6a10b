import { parseRuleKey, portsText, type OrganizationId, type RuleCause, type RuleEventKind } from '#rules';
import { auditTable, type Tx } from '#entities';

/** An observation of a rule to record. */
export interface RuleEvent {
  readonly kind: RuleEventKind;
  readonly ruleId: string;
  readonly cause: RuleCause | null;
  readonly message: string | null;
  /** the ResourceIps it concerns; null: all holders of the rule */
  readonly resourceIpIds: readonly string[] | null;
}

/** An observation of an unmanaged rule, which has no row in `rules`. */
export interface UnmanagedEvent {
  readonly kind: 'FOUND' | 'CLOSED';
  readonly key: string;
  readonly providerRuleId: string;
}

/** Origin of changes, for the ledger and the log. */
export interface Origin {
  readonly workerId: string;
  readonly passId: string;
  /** of the pass's access path; null: none, or several */
  readonly credentialId: string | null;
}

/** A ledger row: an event for one holder. */
export interface LedgerRow {
  readonly kind: RuleEventKind;
  readonly at: Date;
  readonly ruleId: string | null;
  readonly targetId: string;
  readonly provider: string;
  readonly target: string;
  readonly address: string;
  readonly protocol: string;
  readonly ports: string;
  readonly providerRuleId: string | null;
  readonly cause: RuleCause | null;
  readonly message: string | null;
  readonly holderKind: string;
  readonly organizationId: OrganizationId | null;
  readonly resourceId: string | null;
  readonly resourceName: string | null;
  readonly sessionId: string | null;
  readonly staticIpRuleId: string | null;
  readonly userId: string | null;
  readonly userEmail: string | null;
  readonly passId: string | null;
}

const COLUMNS = `at, kind, target_id, provider, target, rule_id, address, protocol, ports, provider_rule_id, cause, message,
  possible_from, certain_from, certain_until, possible_until, holder_kind, organization_id, resource_id, resource_name,
  session_id, static_ip_rule_id, user_id, user_email, credential_id, worker_id, pass_id`;

const RETURNED = `kind, at, rule_id AS "ruleId", target_id AS "targetId", provider, target, address, protocol, ports,
  provider_rule_id AS "providerRuleId", cause, message, holder_kind AS "holderKind", organization_id AS "organizationId",
  resource_id AS "resourceId", resource_name AS "resourceName", session_id AS "sessionId",
  static_ip_rule_id AS "staticIpRuleId", user_id AS "userId", user_email AS "userEmail", pass_id AS "passId"`;

/** Event kinds that end the access through the rule. */
const ENDS = `('CLOSED', 'RELEASED', 'MISSING', 'CHANGED', 'ABANDONED')`;

/** The last observation of the rule `r` of the target `t` as present; null: never observed. */
const LAST_SEEN = `CASE WHEN r.present_since IS NOT NULL THEN greatest(r.present_since, r.observed_at,
  CASE WHEN t.compared_at >= r.present_since THEN t.compared_at END) END`;

/** As `LAST_SEEN`, but not after a removal was sent or the rule was not observed. */
const LAST_OBSERVED = `least(${LAST_SEEN}, r.removal_sent_at)`;

/** One row per holder of the event's rule, with its access interval as far as observed. */
const EVENT_ROWS = `SELECT now() AS at, e.kind, t.id AS target_id, t.provider, t.identifier AS target, r.id AS rule_id,
    r.address, r.protocol, r.ports, r.provider_rule_id,
    CASE WHEN e.kind IN ('CLOSED', 'RELEASED') THEN coalesce(holder.release_cause, e.cause)
      WHEN e.kind IN ('OPENED', 'HELD', 'ADD_REFUSED') THEN coalesce(holder.cause, e.cause) ELSE e.cause END AS cause,
    e.message,
    greatest(r.possible_since, holder.created_at) AS possible_from,
    CASE WHEN i.is_certain THEN i.certain_from END AS certain_from,
    CASE WHEN i.is_certain AND e.kind IN ${ENDS} THEN i.certain_until END AS certain_until,
    CASE WHEN e.kind = 'RELEASED' THEN statement_timestamp()
      -- nobody has observed an end
      WHEN e.kind = 'ABANDONED' THEN NULL
      -- an interval that began after the read does not end before it began
      WHEN e.kind IN ${ENDS}
        THEN greatest(holder.created_at, statement_timestamp() - make_interval(secs => $2::float8 / 1000)) END AS possible_until,
    CASE WHEN holder.session_id IS NOT NULL THEN 'SESSION' WHEN holder.static_ip_rule_id IS NOT NULL THEN 'STATIC_RULE'
      ELSE 'ORPHAN' END AS holder_kind,
    holder.organization_id, holder.resource_id, holder.resource_name, holder.session_id, holder.static_ip_rule_id,
    holder.user_id, holder.user_email,
    CASE WHEN holder.organization_id IS NULL OR EXISTS (SELECT FROM credentials c
      WHERE c.id = $3::uuid AND c.organization_id = holder.organization_id) THEN $3::uuid END AS credential_id,
    $4::text AS worker_id, $5::uuid AS pass_id
  FROM jsonb_to_recordset($1::jsonb)
      AS e(kind text, "ruleId" uuid, cause text, message text, "resourceIpIds" jsonb)
    JOIN rules r ON r.id = e."ruleId" JOIN targets t ON t.id = r.target_id
    LEFT JOIN LATERAL (
      SELECT h.cause, h.release_cause, ip.created_at, ip.organization_id, ip.resource_id, coalesce(res.name, ip.resource_name) AS resource_name,
        ip.session_id, ip.static_ip_rule_id, s.user_id, u.email AS user_email
      FROM rule_holders h JOIN resource_ips ip ON ip.id = h.resource_ip_id
        LEFT JOIN resources res ON res.id = ip.resource_id
        LEFT JOIN sessions s ON s.id = ip.session_id LEFT JOIN users u ON u.id = s.user_id
      WHERE h.rule_id = r.id AND (e."resourceIpIds" = 'null' OR e."resourceIpIds" IS NULL OR e."resourceIpIds" ? ip.id::text)
    ) holder ON true
    CROSS JOIN LATERAL (
      SELECT greatest(r.present_since, holder.created_at) AS certain_from, ${LAST_OBSERVED} AS certain_until,
        r.present_since IS NOT NULL AND (e.kind NOT IN ${ENDS}
          OR coalesce(${LAST_OBSERVED} >= greatest(r.present_since, holder.created_at), false)) AS is_certain
    ) i`;

const UNMANAGED_ROWS = `SELECT now() AS at, e.kind, t.id AS target_id, t.provider, t.identifier AS target,
    NULL::uuid AS rule_id, e.address, e.protocol, e.ports, e."providerRuleId" AS provider_rule_id, NULL::text AS cause,
    NULL::text AS message, u.possible_since AS possible_from, u.present_since AS certain_from,
    CASE WHEN e.kind = 'CLOSED' THEN greatest(t.compared_at, u.present_since) END AS certain_until,
    CASE WHEN e.kind = 'CLOSED' THEN statement_timestamp() - make_interval(secs => $2::float8 / 1000) END AS possible_until,
    'UNMANAGED' AS holder_kind, NULL::uuid AS organization_id, NULL::uuid AS resource_id, NULL::text AS resource_name,
    NULL::uuid AS session_id, NULL::uuid AS static_ip_rule_id, NULL::uuid AS user_id, NULL::text AS user_email,
    $3::uuid AS credential_id, $4::text AS worker_id, $5::uuid AS pass_id
  FROM jsonb_to_recordset($1::jsonb)
      AS e(kind text, key text, "providerRuleId" text, address text, protocol text, ports text)
    JOIN targets t ON t.id = $6::uuid
    JOIN unmanaged_rules u ON u.target_id = t.id AND u.key = e.key AND u.provider_rule_id = e."providerRuleId"`;

/** Inserts into the ledger, or into `unwritten_rule_events` while it is unavailable: revocation does not wait for the record. */
const insert = (tx: Tx, rows: string): string =>
  auditTable(tx) === 'audit_records'
    ? `INSERT INTO rule_events (${COLUMNS}) SELECT ${COLUMNS} FROM (${rows}) e RETURNING ${RETURNED}`
    : `WITH e AS (${rows}), kept AS (INSERT INTO unwritten_rule_events (event) SELECT to_jsonb(e) - 'at' FROM e)
       SELECT ${RETURNED} FROM e`;

/**
 * Records observations of rules. Call it in the transaction of the settlement, after the rules are written and before
 * finished rows are deleted: it reads the rules and their holders.
 */
export class LedgerStore {
  /** @param endedAgoMs age of the read that the events are based on */
  record(tx: Tx, events: readonly RuleEvent[], endedAgoMs: number, origin: Origin): Promise<LedgerRow[]> {
    return tx.query(insert(tx, EVENT_ROWS), [
      JSON.stringify(events),
      endedAgoMs,
      origin.credentialId,
      origin.workerId,
      origin.passId,
    ]);
  }

  /** As `record`, for unmanaged rules. Call it after inserting those that appeared and before deleting those that are gone. */
  recordUnmanaged(
    tx: Tx,
    targetId: string,
    events: readonly UnmanagedEvent[],
    endedAgoMs: number,
    origin: Origin,
  ): Promise<LedgerRow[]> {
    const rows = events.map(({ kind, key, providerRuleId }) => {
      const { address, protocol, ports } = parseRuleKey(key);
      return { kind, key, providerRuleId, address, protocol, ports: portsText(ports) };
    });
    return tx.query(insert(tx, UNMANAGED_ROWS), [
      JSON.stringify(rows),
      endedAgoMs,
      origin.credentialId,
      origin.workerId,
      origin.passId,
      targetId,
    ]);
  }
}
