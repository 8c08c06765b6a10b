import type { DueRule, Instant, ResourceIpStatus, Rule, TargetRule } from '#rules';
import { first, type PreparedStatement, type Tx } from '#entities';
import { overdueFor, UNWANTED_SINCE } from './backlog.store';
import { byKey } from './by-key';
import { Columns, ms } from './columns';
import { dueRules } from './due-rule';
import { releaseClaims } from './holders';
import type { Lease } from './lease.store';
import { lockOwners } from './lock-owners';
import { IS_RESTORED } from './restore.store';
import type { ChangedRows, DueRules, Holder, Loaded } from './rows';

const RULE = new Columns({
  text: ['state', 'last_error', 'provider_rule_id', 'region', 'cause'],
  uuid: ['credential_id'],
  int: ['revision', 'offered_revision', 'attempts', 'lost_count'],
  boolean: ['closing', 'is_unmanaged', 'is_missing', 'is_suspended'],
  time: [
    'due_at',
    'in_flight_until',
    'target_missing_since',
    'lost_at',
    'unwanted_since',
    'overdue_at',
    'possible_since',
    'present_since',
    'observed_at',
    'removal_sent_at',
    'offered_until',
    'native_end_at',
  ],
});

const ADDRESS = new Columns({
  text: ['status', 'error_message', 'given_up', 'still_allowed_by', 'provider_rule_id'],
  boolean: ['wrong_family'],
  time: ['pending_since', 'applied_at', 'removed_at'],
});

const HOLDER = new Columns({
  uuid: ['rule_id', 'resource_ip_id'],
  text: ['cause', 'release_cause'],
  time: ['released_at'],
});

/** Rules, their holders and addresses of the target $1. @param seed a query for the ids of rules */
const load = (name: string, seed: string): PreparedStatement => ({
  name,
  text: `WITH near AS MATERIALIZED (${seed}),
  held AS MATERIALIZED (SELECT h.* FROM near JOIN rule_holders h ON h.rule_id = near.id)
  SELECT ${ms('now()')} AS now, ${ms('statement_timestamp()')} AS "readAt", ${ms('t.compared_at')} AS "comparedAt",
    ${ms('coalesce(t.compared_at, t.created_at)')} AS "knownSince", ${ms('t.in_flight_until')} AS "listInFlightUntil",
    ${IS_RESTORED} AS "isRestored",
    ARRAY(SELECT to_jsonb(rule) FROM (
      SELECT r.id, ${RULE.of('r')}, r.target_id AS "targetId", own.provider, own.resource_type AS "resourceType", own.identifier,
        ${ms('own.compared_at')} AS "comparedAt", r.key, r.address, r.protocol, r.ports,
        (SELECT organization_id FROM credentials WHERE id = r.credential_id) AS "writerOrganizationId"
      FROM near CROSS JOIN LATERAL ${byKey('rules', 'near.id')} r JOIN targets own ON own.id = r.target_id ORDER BY r.key
    ) rule) AS rules,
    ARRAY(SELECT to_jsonb(holder) FROM (SELECT ${HOLDER.of('held')} FROM held) holder) AS holders,
    ARRAY(SELECT to_jsonb(address) FROM (
      SELECT ip.id, ${ADDRESS.of('ip')}, ip.organization_id AS "organizationId", ip.session_id AS "sessionId",
        ip.static_ip_rule_id AS "staticIpRuleId", ip.resource_id AS "resourceId",
        coalesce(res.name, ip.resource_name) AS "resourceName", ${ms('ip.created_at')} AS "createdAt",
        ${ms('ip.released_at')} AS "releasedAt",
        CASE WHEN res.id IS NOT NULL THEN jsonb_build_object('access',
          jsonb_build_object('credentialId', res.credential_id, 'region', res.region), 'config', res.config,
          'writeVerified', res.write_verified,
          'abandoned', CASE WHEN res.abandoned_at IS NOT NULL THEN coalesce(res.abandon_reason, '') END) END AS resource,
        CASE WHEN s.id IS NOT NULL THEN jsonb_build_object('userId', s.user_id, 'userEmail', u.email,
          'expiresAt', ${ms('s.expires_at')}, 'endsAt', ${ms('least(s.expires_at, s.lease_until)')}) END AS session,
        ${ms('fixed.expires_at')} AS "staticEndsAt"
      FROM (SELECT DISTINCT resource_ip_id FROM held) h
      CROSS JOIN LATERAL ${byKey('resource_ips', 'h.resource_ip_id')} ip
      LEFT JOIN resources res ON res.id = ip.resource_id
      LEFT JOIN sessions s ON s.id = ip.session_id LEFT JOIN users u ON u.id = s.user_id
      LEFT JOIN static_ip_rules fixed ON fixed.id = ip.static_ip_rule_id ORDER BY ip.id
    ) address) AS addresses
  FROM targets t WHERE t.id = $1`,
});

/** The rules $2, and those that their addresses in the statuses $3 hold besides; of a missing rule, all its addresses. */
const WITH_NEIGHBOURS = load(
  'load-with-neighbours',
  `SELECT id FROM rules WHERE id = ANY ($2::uuid[])
  UNION SELECT other.rule_id FROM rules r JOIN rule_holders h ON h.rule_id = r.id
    CROSS JOIN LATERAL ${byKey('resource_ips', 'h.resource_ip_id')} ip
    JOIN rule_holders other ON other.resource_ip_id = ip.id
    WHERE r.id = ANY ($2::uuid[]) AND (ip.status = ANY ($3) OR r.is_missing)`,
);

const DUE = load(
  'load-due',
  `SELECT r.id FROM rules r WHERE r.target_id = $1 AND r.due_at <= now()
  ORDER BY EXISTS (
    SELECT FROM rule_holders h CROSS JOIN LATERAL ${byKey('resource_ips', 'h.resource_ip_id')} ip
    WHERE h.rule_id = r.id AND h.released_at IS NULL AND ip.status IN ('PENDING', 'APPLIED')
  ), r.due_at, r.id LIMIT $2`,
);

/** The rules $2, due or not. */
const THESE = load('load-these', 'SELECT id FROM rules WHERE id = ANY ($2::uuid[]) AND target_id = $1');

/** The sessions and static IP rules of the rules' addresses in these statuses. */
function ownersOf(
  { holders, addresses }: Loaded,
  ruleIds: readonly string[],
  statuses: readonly ResourceIpStatus[],
): string[] {
  const own = new Set(ruleIds);
  const held = new Set(
    holders.flatMap(({ ruleId, resourceIpId }) => (own.has(ruleId) ? [resourceIpId] : [])),
  );
  return addresses
    .filter(({ id, status }) => held.has(id) && statuses.includes(status))
    .flatMap(({ sessionId, staticIpRuleId }) => sessionId ?? staticIpRuleId ?? []);
}

/** Rules without their holders, locked. */
export interface LockedRules {
  readonly now: Instant;
  readonly rules: readonly Rule[];
}

/** Loads rules with their holders and addresses, and saves them whole. What they become is decided by `ruleLife`, `observe` and `rule-unread.ts`. */
export class RuleStore {
  /** Due rules of the target, unwanted ones first. */
  async due(tx: Tx, lease: Lease, limit: number): Promise<DueRules> {
    const loaded = await first<Loaded>(tx, DUE, [lease.targetId, limit]);
    return { now: loaded!.now, rules: dueRules(loaded!) };
  }

  /** These rules of the target as they are now, due or not. */
  async again(tx: Tx, lease: Lease, ruleIds: readonly string[]): Promise<DueRules> {
    const loaded = await first<Loaded>(tx, THESE, [lease.targetId, ruleIds]);
    return { now: loaded!.now, rules: dueRules(loaded!) };
  }

  /** Every rule of the target whose recorded state is present or unknown. */
  possiblyPresent(
    tx: Tx,
    lease: Lease,
  ): Promise<(Pick<DueRule, 'ruleId' | 'key'> & Pick<Rule, 'state' | 'isUnmanaged'>)[]> {
    return tx.query(
      `SELECT id AS "ruleId", key, state, is_unmanaged AS "isUnmanaged" FROM rules WHERE target_id = $1 AND state <> 'absent'`,
      [lease.targetId],
    );
  }

  /**
   * Locks rules until the transaction ends, and before them the sessions and static IP rules of their addresses in these
   * statuses: the order in which every writer locks. What is read then decides about the rules and these addresses.
   */
  async lock(
    tx: Tx,
    targetId: string,
    ruleIds: readonly string[],
    statuses: readonly ResourceIpStatus[],
  ): Promise<Loaded> {
    const lockTheirOwners = (): Promise<ReadonlySet<string>> =>
      lockOwners(
        tx,
        `rule_holders holder JOIN resource_ips ip ON ip.id = holder.resource_ip_id
         WHERE holder.rule_id = ANY ($1::uuid[]) AND ip.status = ANY ($2)`,
        [ruleIds, statuses],
      );
    const read = async (): Promise<Loaded> =>
      (await first<Loaded>(tx, WITH_NEIGHBOURS, [targetId, ruleIds, statuses]))!;
    const locked = await lockTheirOwners();
    await tx.query('SELECT 1 FROM rules WHERE id = ANY ($1::uuid[]) ORDER BY id FOR NO KEY UPDATE', [
      ruleIds,
    ]);
    const loaded = await read();
    if (ownersOf(loaded, ruleIds, statuses).every((id) => locked.has(id))) return loaded;
    // it ended, or began, while the rules were waited for: unlocked, two of its targets would each leave its end to the other
    await lockTheirOwners();
    return read();
  }

  /** As `lock`, without what decides about them. */
  async lockAlone(tx: Tx, ruleIds: readonly string[]): Promise<LockedRules> {
    return this.readLocked(tx, 'r.id = ANY ($1::uuid[]) ORDER BY r.id FOR NO KEY UPDATE', [ruleIds]);
  }

  /** Every rule of a target that is not absent, or waits for its next pass. */
  async live(tx: Tx, targetId: string): Promise<string[]> {
    const rules = await tx.query<Pick<Rule, 'id'>[]>(
      `SELECT id FROM rules WHERE target_id = $1 AND (state <> 'absent' OR due_at IS NOT NULL)`,
      [targetId],
    );
    return rules.map(({ id }) => id);
  }

  /** Writes rows as they are now, and deletes holders that have ended. Call it in the transaction that locked their rules. */
  async save(tx: Tx, { rules = [], addresses = [], ended = [] }: Partial<ChangedRows>): Promise<void> {
    if (rules.length + addresses.length + ended.length === 0) return;
    await tx.query(
      `WITH rule AS (
         UPDATE rules r SET ${RULE.set} FROM jsonb_to_recordset($1::jsonb) AS given(id uuid, ${RULE.given})
         WHERE r.id = given.id
       ), address AS (
         UPDATE resource_ips ip SET ${ADDRESS.set}
         FROM jsonb_to_recordset($2::jsonb) AS given(id uuid, was text, ${ADDRESS.given})
         WHERE ip.id = given.id AND ip.status = given.was
       )
       DELETE FROM rule_holders h USING unnest($3::uuid[], $4::uuid[]) AS ended (rule_id, resource_ip_id)
       WHERE h.rule_id = ended.rule_id AND h.resource_ip_id = ended.resource_ip_id`,
      [
        JSON.stringify(rules),
        JSON.stringify(addresses),
        ended.map(({ ruleId }) => ruleId),
        ended.map(({ resourceIpId }) => resourceIpId),
      ],
    );
  }

  /** Inserts rules of a target that have no holder. @returns those that were not there */
  async insert(
    tx: Tx,
    targetId: string,
    rules: readonly (Rule & Pick<TargetRule, 'key' | 'address' | 'protocol' | 'ports'>)[],
  ): Promise<Pick<TargetRule, 'id' | 'key'>[]> {
    return tx.query(
      `INSERT INTO rules (id, target_id, accounted_to, key, address, protocol, ports, ${RULE.names})
       SELECT issue_rule_id(), t.id, t.accounted_to, given.key, given.address, given.protocol, given.ports, ${RULE.values}
       FROM jsonb_to_recordset($2::jsonb)
         AS given(key text, address text, protocol text, ports text, ${RULE.given}) JOIN targets t ON t.id = $1
       ON CONFLICT DO NOTHING RETURNING id, key`,
      [targetId, JSON.stringify(rules)],
    );
  }

  /** Releases refused holders: a rule that exists nevertheless becomes unwanted. */
  async releaseRefused(tx: Tx, holders: readonly Holder[]): Promise<void> {
    await releaseClaims(
      tx,
      'ADD_REFUSED',
      'SELECT * FROM unnest($2::uuid[], $3::uuid[]) AS c (rule_id, resource_ip_id)',
      [holders.map(({ ruleId }) => ruleId), holders.map(({ resourceIpId }) => resourceIpId)],
    );
  }

  /** Deletes those of these rules that have no holder. */
  async deleteUnheld(tx: Tx, ruleIds: readonly string[]): Promise<void> {
    if (ruleIds.length === 0) return;
    await tx.query(
      `DELETE FROM rules r WHERE id = ANY ($1::uuid[])
         AND NOT EXISTS (SELECT FROM rule_holders h WHERE h.rule_id = r.id)`,
      [ruleIds],
    );
  }

  /** Locks the target's other rules that wait for their next attempt. */
  lockRetries(tx: Tx, { targetId }: Lease, ruleIds: readonly string[]): Promise<LockedRules> {
    return this.lockFree(
      tx,
      'r.target_id = $1 AND r.id <> ALL ($2::uuid[]) AND r.attempts > 0 AND r.due_at > now() AND NOT r.is_suspended',
      [targetId, ruleIds],
    );
  }

  /** Locks absent rules that have no holder. */
  lockUnheld(tx: Tx, limit: number): Promise<LockedRules> {
    return this.lockFree(
      tx,
      `r.state = 'absent' AND r.due_at IS NULL AND (r.in_flight_until IS NULL OR r.in_flight_until <= now())
       AND NOT EXISTS (SELECT FROM rule_holders h WHERE h.rule_id = r.id) LIMIT $1`,
      [limit],
    );
  }

  /** Locks settled present rules that were written with these credentials and are held. */
  lockWrittenWith(tx: Tx, credentialIds: readonly string[]): Promise<LockedRules> {
    return this.lockFree(
      tx,
      `r.credential_id = ANY ($1::uuid[]) AND r.state = 'present' AND r.due_at IS NULL
       AND EXISTS (SELECT FROM rule_holders h WHERE h.rule_id = r.id AND h.released_at IS NULL)`,
      [credentialIds],
    );
  }

  /**
   * Locks rules that are due in more than these seconds, the latest first, and settled ones that their provider ends within the
   * lead, before one of their holders.
   */
  lockMisdated(tx: Tx, seconds: number, leadSeconds: number, limit: number): Promise<LockedRules> {
    return this.lockFree(
      tx,
      `r.id = ANY (ARRAY(SELECT id FROM rules WHERE due_at > now() + make_interval(secs => $1)
           ORDER BY due_at DESC LIMIT $3)
         || ARRAY(SELECT e.id FROM rules e WHERE e.native_end_at < now() + make_interval(secs => $2)
           AND e.due_at IS NULL AND e.unwanted_since IS NULL AND EXISTS (
             SELECT FROM rule_holders h JOIN resource_ips ip ON ip.id = h.resource_ip_id
             LEFT JOIN sessions s ON s.id = ip.session_id
             LEFT JOIN static_ip_rules fixed ON fixed.id = ip.static_ip_rule_id
             WHERE h.rule_id = e.id AND h.released_at IS NULL AND coalesce(
               s.expires_at > e.native_end_at, fixed.expires_at > e.native_end_at, true)
           ) ORDER BY e.native_end_at LIMIT $3))`,
      [seconds, leadSeconds, limit],
    );
  }

  /** Locks rules that should have been gone for this long, may still be present, and are not reported. */
  lockUnreported(tx: Tx, seconds: number, limit: number): Promise<LockedRules> {
    return this.lockFree(
      tx,
      `r.overdue_at IS NULL AND ${overdueFor('$1', 'AND overdue_at IS NULL')}
       ORDER BY ${UNWANTED_SINCE} LIMIT $2`,
      [seconds, limit],
    );
  }

  /** Locks those of these rules that no other transaction has locked: it may be about to change them. */
  private lockFree(tx: Tx, condition: string, given: readonly unknown[]): Promise<LockedRules> {
    return this.readLocked(tx, `${condition} FOR NO KEY UPDATE SKIP LOCKED`, given);
  }

  private async readLocked(tx: Tx, condition: string, given: readonly unknown[]): Promise<LockedRules> {
    const rules = await tx.query<(Rule & { now: Instant })[]>(
      `SELECT r.id, ${RULE.of('r')}, ${ms('now()')} AS now FROM rules r WHERE ${condition}`,
      [...given],
    );
    return { now: rules[0]?.now ?? 0, rules: rules.map(({ now: _, ...rule }) => rule) };
  }
}
