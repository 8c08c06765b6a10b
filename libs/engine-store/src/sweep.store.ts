import { grouped, type OrganizationId, type SlotUse } from '#rules';
import {
  type AuditEntry,
  AuditTrail,
  ENDED_AT,
  ENDS_AT,
  HOLDING,
  MAY_EXPIRE,
  execute,
  rows,
  STATIC_RULE_MAY_END,
  SYSTEM_ACTOR,
  type Tx,
} from '#entities';
import type { AgentWatchStore } from './agent-watch.store';
import { COMPARISON_INTERVAL_SECONDS } from './comparison.store';
import { release, type WokenTargets } from './holders';
import { UNLEASED } from './lease.store';
import { closeStaticRules } from './static-rule-closing';

/** As in `rules_work_idx`: removals first, then rules that were not tried before. */
const RANK = `((NOT r.closing)::int * 2 + (r.attempts > 0)::int)`;

/** Rules read per requested target: several may share one. */
const RULES_PER_TARGET = 2;
/** Read when so few found few targets: a full security group has 60 rules, which may all be due at the same time. */
const MANY_RULES_PER_TARGET = 64;
/** Organizations visited per query in a backlog; the next query continues after them. */
const MAX_ORGANIZATIONS = 40;
const FIRST_ORGANIZATION = '00000000-0000-0000-0000-000000000000';

/** Organizations of the resources that point at the target, with duplicates. */
const namedBy = (targetId: string): string =>
  `ARRAY(SELECT organization_id FROM resources WHERE target_id = ${targetId})`;

export interface SweepOutlook {
  /** ms until the next session or static IP rule ends, 0 when one has ended; null: none will */
  readonly nextEndMs: number | null;
  /** whether a target has something due, under a lease or not */
  readonly isDue: boolean;
}

/** Removes duplicate organizations. */
const distinct = (targets: readonly SlotUse[]): SlotUse[] =>
  targets.map((target) => ({ ...target, organizations: [...new Set(target.organizations)].toSorted() }));

/** $2 targets of the CTE `due` (rules), $1 of each organization, interleaved by their turn within it. */
const FOUND = `work AS (
    SELECT target_id, provider, min(due_at) AS since, bool_or(closing) AS closing, bool_and(attempts > 0) AS is_deferrable,
      accounted_to
    FROM due GROUP BY target_id, provider, accounted_to
  ), ranked AS (
    SELECT w.*, row_number() OVER (PARTITION BY w.accounted_to ORDER BY w.closing DESC, w.is_deferrable, w.since) AS turn
    FROM work w
  ), chosen AS (
    SELECT * FROM ranked WHERE turn <= $1
    ORDER BY turn, closing DESC, is_deferrable, since LIMIT $2
  ), found AS (
    SELECT ARRAY(
      SELECT jsonb_build_object('targetId', c.target_id, 'provider', c.provider, 'organizations', ${namedBy('c.target_id')},
        'closing', c.closing, 'deferrable', c.is_deferrable)
      FROM chosen c ORDER BY c.turn, c.closing DESC, c.is_deferrable, c.since) AS targets
  )`;

/** Prepared once per connection: in a backlog they run repeatedly. */
const OLDEST_DUE = {
  name: 'oldest-due',
  text: `WITH oldest AS MATERIALIZED (
         SELECT target_id, due_at, closing, attempts, accounted_to FROM rules
         WHERE due_at <= now() ORDER BY due_at LIMIT $2 * ${RULES_PER_TARGET}
       ), size AS MATERIALIZED (SELECT count(*) >= $2 * ${RULES_PER_TARGET} AS "isBacklog" FROM oldest
       ), due AS (
         SELECT r.*, t.provider FROM oldest r JOIN targets t ON t.id = r.target_id
         WHERE ${UNLEASED('t')} AND NOT (SELECT "isBacklog" FROM size)
       ), ${FOUND}
       SELECT found.targets, size."isBacklog" FROM found, size`,
};

const DUE_IN_TURN = {
  name: 'due-in-turn',
  text: `WITH due AS (
         SELECT r.*, o.id AS accounted_to
         FROM unnest($3::uuid[]) AS o (id) CROSS JOIN LATERAL (
           SELECT r.* FROM (VALUES (0), (1), (2), (3)) AS ranks (rank) CROSS JOIN LATERAL (
             SELECT r.target_id, t.provider, r.due_at, r.closing, r.attempts
             FROM rules r JOIN targets t ON t.id = r.target_id
             WHERE r.due_at IS NOT NULL AND r.accounted_to = o.id AND ${RANK} = ranks.rank AND r.due_at <= now()
               AND ${UNLEASED('t')}
             ORDER BY r.due_at LIMIT $4
           ) r LIMIT $4
         ) r
       ), ${FOUND}
       SELECT targets FROM found`,
};

const NEXT_ORGANIZATIONS = {
  name: 'next-organizations',
  text: `WITH RECURSIVE following AS (
         (SELECT accounted_to FROM rules WHERE due_at IS NOT NULL AND accounted_to > $1::uuid ORDER BY accounted_to LIMIT 1)
         UNION ALL
         SELECT next.accounted_to FROM following f CROSS JOIN LATERAL (
           SELECT accounted_to FROM rules WHERE due_at IS NOT NULL AND accounted_to > f.accounted_to
           ORDER BY accounted_to LIMIT 1) next
       ), first AS (
         (SELECT accounted_to FROM rules WHERE due_at IS NOT NULL AND accounted_to <= $1::uuid ORDER BY accounted_to LIMIT 1)
         UNION ALL
         SELECT next.accounted_to FROM first f CROSS JOIN LATERAL (
           SELECT accounted_to FROM rules WHERE due_at IS NOT NULL AND accounted_to > f.accounted_to
             AND accounted_to <= $1::uuid ORDER BY accounted_to LIMIT 1) next
       )
       SELECT accounted_to AS id FROM (SELECT * FROM following UNION ALL SELECT * FROM first LIMIT $2) o`,
};

/**
 * Queries of the sweep, on the database clock. The cost of each depends on its result, not on the backlog.
 */
export class SweepStore {
  /** cursor for the rotation over organizations in a backlog */
  private from = FIRST_ORGANIZATION;
  private readonly audit = new AuditTrail();

  /** @param comparisonSeconds between two comparisons of one host */
  constructor(
    private readonly agents: AgentWatchStore,
    private readonly comparisonSeconds = COMPARISON_INTERVAL_SECONDS,
  ) {}

  /**
   * Moves expired sessions to EXPIRING and releases their holders. Call it in a transaction.
   * @returns how many, and the targets to wake
   */
  async expireSessions(tx: Tx, limit: number): Promise<{ count: number; targets: WokenTargets[] }> {
    const ended = await rows<{ id: string; leaseLost: boolean }>(
      tx,
      `UPDATE sessions SET status = 'EXPIRING', ended_at = ${ENDED_AT}, ended_reason = 'EXPIRED'
       WHERE id IN (
         SELECT id FROM sessions WHERE status IN (${MAY_EXPIRE}) AND ${ENDS_AT} <= now()
         ORDER BY ${ENDS_AT} LIMIT $1 FOR UPDATE SKIP LOCKED)
       RETURNING id, coalesce(lease_until < expires_at, false) AS "leaseLost"`,
      [limit],
    );
    const targets: WokenTargets[] = [];
    for (const cause of ['LEASE_LOST', 'SESSION_EXPIRED'] as const) {
      const over = ended.filter(({ leaseLost }) => leaseLost === (cause === 'LEASE_LOST'));
      const sessionIds = over.map(({ id }) => id);
      if (sessionIds.length > 0) targets.push(...(await release(tx, cause, { sessionIds })));
    }
    return { count: ended.length, targets };
  }

  /**
   * Closes the static IP rules that have ended, and records that. Call it in a transaction. The lock checks the end again after a
   * wait: a rule is either extended or closed. What a lockdown has closed is noted as ended, too.
   * @returns how many, and the targets to wake
   */
  async expireStaticRules(tx: Tx, limit: number): Promise<{ count: number; targets: WokenTargets[] }> {
    const ended = await rows<{ organizationId: OrganizationId; id: string; entry: AuditEntry }>(
      tx,
      `SELECT organization_id AS "organizationId", id, jsonb_build_object('eventType', 'STATIC_IP_RULE_EXPIRED',
         'resourceType', 'STATIC_IP_RULE', 'resourceId', id, 'resourceName', label, 'details', jsonb_build_object('ipAddress', ip_address, 'expiresAt', expires_at)) AS entry
       FROM static_ip_rules WHERE ${STATIC_RULE_MAY_END} AND expires_at <= now()
       ORDER BY expires_at LIMIT $1 FOR UPDATE SKIP LOCKED`,
      [limit],
    );
    if (ended.length === 0) return { count: 0, targets: [] };
    const staticIpRuleIds = ended.map(({ id }) => id);
    await closeStaticRules(tx, staticIpRuleIds, 'EXPIRY');
    for (const [organization, own] of grouped(ended, ({ organizationId }) => organizationId))
      await this.audit.write(tx, organization, ...own.map(({ entry }) => ({ ...SYSTEM_ACTOR, ...entry })));
    return { count: ended.length, targets: await release(tx, 'STATIC_RULE_EXPIRED', { staticIpRuleIds }) };
  }

  /** Whether there is anything to sweep, from the ends of four indexes. */
  async outlook(tx: Tx): Promise<SweepOutlook> {
    const [found] = await tx.query<[SweepOutlook]>(
      `SELECT (SELECT extract(epoch FROM greatest(ends.at, now()) - now())::float8 * 1000 FROM (
           (SELECT ${ENDS_AT} FROM sessions WHERE status IN (${MAY_EXPIRE}) ORDER BY ${ENDS_AT} LIMIT 1)
           UNION ALL (SELECT expires_at FROM static_ip_rules WHERE ${STATIC_RULE_MAY_END} ORDER BY expires_at LIMIT 1)
         ) ends (at) ORDER BY ends.at LIMIT 1) AS "nextEndMs",
         coalesce((SELECT min(due_at) FROM rules WHERE due_at IS NOT NULL) <= now(), false)
           OR coalesce((SELECT min(reconcile_due_at) FROM targets) <= now(), false) AS "isDue"`,
    );
    return found;
  }

  /**
   * Deletes finished rows: removed ResourceIps of static IP rules, static IP rules that are deleted or have ended long ago, and
   * deleted resources.
   */
  async purge(tx: Tx, limit: number): Promise<void> {
    const unsettled = `status IN (${HOLDING}, 'REMOVING')`;
    await tx.query(
      `WITH entries AS (
         DELETE FROM resource_ips WHERE id IN (
           SELECT id FROM resource_ips ip WHERE static_ip_rule_id IS NOT NULL
             AND (status = 'REMOVED' OR (status = 'FAILED' AND released_at IS NOT NULL))
             AND NOT EXISTS (SELECT FROM rule_holders h WHERE h.resource_ip_id = ip.id)
           LIMIT $1)
       ), static AS (
         DELETE FROM static_ip_rules WHERE id IN (
           SELECT id FROM static_ip_rules rule
           WHERE (deleted_at IS NOT NULL OR (closed_by = 'EXPIRY' AND expires_at < now() - interval '90 days'))
             AND NOT EXISTS (SELECT FROM resource_ips ip WHERE ip.static_ip_rule_id = rule.id
               AND (${unsettled} OR EXISTS (SELECT FROM rule_holders h WHERE h.resource_ip_id = ip.id)))
           LIMIT $1 FOR UPDATE SKIP LOCKED)
       )
       DELETE FROM resources WHERE id IN (
         SELECT id FROM resources r WHERE deleted_at IS NOT NULL
           AND NOT EXISTS (SELECT FROM resource_ips WHERE resource_id = r.id AND ${unsettled})
         LIMIT $1)`,
      [limit],
    );
  }

  /**
   * Deletes unused deleted credentials. Each is checked at most once a minute.
   * @returns those that are still used
   */
  async purgeCredentials(tx: Tx, limit: number): Promise<string[]> {
    const [purged] = await tx.query<{ used: string[] }[]>(
      `WITH due AS (
         SELECT id FROM credentials WHERE deleted_at IS NOT NULL AND check_due_at <= now()
         ORDER BY check_due_at LIMIT $1 FOR UPDATE SKIP LOCKED
       ), in_use AS (
         SELECT id FROM due WHERE EXISTS (SELECT FROM resources WHERE credential_id = due.id)
           OR EXISTS (SELECT FROM rules WHERE credential_id = due.id)
       ), used AS (
         -- a credential goes after, or with, the last of its rows for accounts
         SELECT id FROM due WHERE id IN (SELECT id FROM in_use) OR EXISTS (
           SELECT FROM credentials one WHERE one.parent_id = due.id
             AND one.id NOT IN (SELECT id FROM due EXCEPT SELECT id FROM in_use))
       ), later AS (
         UPDATE credentials SET check_due_at = now() + interval '50 seconds' WHERE id IN (SELECT id FROM used)
       ), gone AS (
         DELETE FROM credentials WHERE id IN (SELECT id FROM due EXCEPT SELECT id FROM used)
       )
       SELECT ARRAY(SELECT id FROM used) AS used`,
      [limit],
    );
    return purged!.used;
  }

  /** Corrects comparisons and write budgets after the database clock was set back: those later than any delay allows become now. */
  async bringForward(tx: Tx): Promise<void> {
    await tx.query(
      `WITH budgets AS (UPDATE write_budgets SET full_at = now(), additions_until = NULL, removals_until = NULL, verifications_until = NULL
         WHERE greatest(full_at, additions_until, removals_until, verifications_until) > now() + interval '3 minutes')
       UPDATE targets SET reconcile_due_at = now() WHERE reconcile_due_at > now() + interval '1 day'`,
    );
  }

  /**
   * Targets without a lease that wait for a slot, round-robin over organizations, the most urgent of each first. No
   * organization's backlog delays another's targets.
   * @param perOrganization limit per organization
   */
  async waitingTargets(tx: Tx, perOrganization: number, limit: number): Promise<SlotUse[]> {
    const due =
      (await this.oldestDue(tx, perOrganization, limit)) ??
      (await this.dueInTurn(tx, perOrganization, limit));
    const known = new Set(due.map(({ targetId }) => targetId));
    const compared = due.length < limit ? await this.comparisons(tx, limit) : [];
    return [...due, ...compared.filter(({ targetId }) => !known.has(targetId))].slice(0, limit);
  }

  /** All due targets; null in a backlog: more due rules than `RULES_PER_TARGET` per requested target. */
  private async oldestDue(tx: Tx, perOrganization: number, limit: number): Promise<SlotUse[] | null> {
    const [found] = await execute<{ targets: SlotUse[]; isBacklog: boolean }>(tx, OLDEST_DUE, [
      perOrganization,
      limit,
    ]);
    return found!.isBacklog ? null : distinct(found!.targets);
  }

  /** Due targets in a backlog: some per organization, continuing after the last query. Removals first, then untried rules. */
  private async dueInTurn(tx: Tx, perOrganization: number, limit: number): Promise<SlotUse[]> {
    const organizations = await this.nextOrganizations(tx);
    const each = Math.min(perOrganization, Math.ceil(limit / organizations.length));
    const read = async (rulesPerTarget: number): Promise<SlotUse[]> => {
      const given = [perOrganization, limit, organizations, each * rulesPerTarget];
      const [found] = await execute<{ targets: SlotUse[] }>(tx, DUE_IN_TURN, given);
      return distinct(found!.targets);
    };
    const targets = await read(RULES_PER_TARGET);
    const wanted = Math.min(limit, organizations.length * each);
    return targets.length * 2 >= wanted ? targets : read(MANY_RULES_PER_TARGET);
  }

  /** The organizations with rules that are due or in backoff, one probe of the index each. */
  private async nextOrganizations(tx: Tx): Promise<string[]> {
    const found = await execute<{ id: string }>(tx, NEXT_ORGANIZATIONS, [this.from, MAX_ORGANIZATIONS]);
    this.from = found.at(-1)?.id ?? FIRST_ORGANIZATION;
    return found.map(({ id }) => id);
  }

  /** Targets whose comparison takes a slot. Those of healthy hosts are finished here, all at once. */
  private async comparisons(tx: Tx, limit: number): Promise<SlotUse[]> {
    const due = await this.dueComparisons(tx, limit);
    if (!due.some(({ provider }) => provider === 'AGENT')) return due;
    const finished = await this.agents.finishHealthy(tx, this.comparisonSeconds);
    return finished === 0 ? due : this.dueComparisons(tx, limit);
  }

  /** Longest due first. `ComparisonStore.finish` limits how many come due per credential. */
  private async dueComparisons(tx: Tx, limit: number): Promise<SlotUse[]> {
    const targets = await tx.query<SlotUse[]>(
      `SELECT t.id AS "targetId", t.provider, ${namedBy('t.id')} AS organizations, false AS closing, true AS "deferrable"
       FROM targets t WHERE t.reconcile_due_at <= now() AND ${UNLEASED('t')} ORDER BY t.reconcile_due_at LIMIT $1`,
      [limit],
    );
    return distinct(targets);
  }

  /** One target, if it is due and no worker holds it. */
  async waitingTarget(tx: Tx, targetId: string): Promise<SlotUse | null> {
    const found = await tx.query<SlotUse[]>(
      `SELECT t.id AS "targetId", t.provider, ${namedBy('t.id')} AS organizations, coalesce(due.closing, false) AS closing,
         coalesce(due.is_deferrable, true) AS "deferrable"
       FROM targets t CROSS JOIN LATERAL (
         SELECT bool_or(r.closing) AS closing, bool_and(r.attempts > 0) AS is_deferrable FROM rules r
         WHERE r.target_id = t.id AND r.due_at <= now()
       ) due
       WHERE t.id = $1 AND ${UNLEASED('t')} AND (due.closing IS NOT NULL OR t.reconcile_due_at <= now())`,
      [targetId],
    );
    return distinct(found)[0] ?? null;
  }
}
