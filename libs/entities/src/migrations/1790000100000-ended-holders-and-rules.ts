import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Fills the new columns of what is live and deletes what is over, a batch at a time, while processes of the release before
 * go on: a row that one of them works on is passed over, and followed by the trigger or the sweep instead.
 *
 * Each batch is a transaction of its own. In a single one, a start on an address whose old rule was deleted by an early
 * batch would wait until the last batch is done. A migration that was interrupted runs again from the beginning: every
 * statement changes only what is left to change.
 */
const BATCH = 20_000;

/** Rows that processes of the release before wait for while a batch is filled. */
const FILL_BATCH = 5000;

/** The organization of each target's oldest resource. */
const NAMED = `(SELECT DISTINCT ON (target_id) target_id, organization_id FROM resources ORDER BY target_id, created_at)`;

/** Each finds what is still to fill, and fills a batch of it. */
const FILL = [
  `UPDATE rule_holders h SET released_at = coalesce(ip.released_at, now()),
     release_cause = CASE WHEN ip.static_ip_rule_id IS NOT NULL THEN 'STATIC_RULE_DELETED'
       WHEN s.ended_reason = 'EXPIRED' THEN 'SESSION_EXPIRED' WHEN s.ended_reason = 'MANUAL' THEN 'SESSION_STOPPED'
       WHEN s.ended_reason = 'ADMIN' THEN 'SESSION_STOPPED_BY_ADMIN' ELSE 'UNRECORDED' END
   FROM resource_ips ip LEFT JOIN sessions s ON s.id = ip.session_id
   WHERE ip.id = h.resource_ip_id AND ip.status = 'REMOVING' AND h.ctid = ANY (ARRAY(
     SELECT held.ctid FROM rule_holders held JOIN resource_ips removing ON removing.id = held.resource_ip_id
     WHERE removing.status = 'REMOVING' AND held.released_at IS NULL LIMIT ${FILL_BATCH} FOR UPDATE OF held))`,
  `UPDATE rule_holders h SET cause = CASE WHEN ip.session_id IS NULL THEN 'STATIC_RULE_CREATED' ELSE 'SESSION_STARTED' END
   FROM resource_ips ip WHERE ip.id = h.resource_ip_id AND h.ctid = ANY (ARRAY(
     SELECT ctid FROM rule_holders WHERE cause IS NULL LIMIT ${FILL_BATCH} FOR UPDATE))`,
  // present by our record: since when exactly is not known; certain again from the next observation on
  `UPDATE rules SET possible_since = created_at WHERE id = ANY (ARRAY(
     SELECT id FROM rules WHERE state <> 'absent' AND possible_since IS NULL LIMIT ${FILL_BATCH} FOR UPDATE))`,
  // unwanted since the last of its holders was released
  `UPDATE rules r SET unwanted_since = coalesce(last.released_at, now()), cause = coalesce(last.release_cause, 'UNRECORDED')
   FROM (
     SELECT id FROM rules WHERE state <> 'absent' AND NOT is_foreign AND unwanted_since IS NULL
       AND NOT EXISTS (SELECT FROM rule_holders h WHERE h.rule_id = rules.id AND h.released_at IS NULL)
     LIMIT ${FILL_BATCH} FOR UPDATE
   ) unwanted LEFT JOIN LATERAL (
     SELECT h.released_at, h.release_cause FROM rule_holders h WHERE h.rule_id = unwanted.id
     ORDER BY h.released_at DESC LIMIT 1
   ) last ON true
   WHERE r.id = unwanted.id`,
  `UPDATE rules r SET accounted_to = named.organization_id FROM ${NAMED} named
   WHERE named.target_id = r.target_id AND r.id = ANY (ARRAY(
     SELECT rule.id FROM rules rule JOIN ${NAMED} n ON n.target_id = rule.target_id
     WHERE rule.accounted_to <> n.organization_id LIMIT ${FILL_BATCH} FOR UPDATE OF rule))`,
  `UPDATE targets t SET accounted_to = named.organization_id FROM ${NAMED} named
   WHERE named.target_id = t.id AND t.id = ANY (ARRAY(
     SELECT target.id FROM targets target JOIN ${NAMED} n ON n.target_id = target.id
     WHERE target.accounted_to <> n.organization_id LIMIT ${FILL_BATCH} FOR UPDATE OF target))`,
  `UPDATE resources SET write_verified = true WHERE id = ANY (ARRAY(
     SELECT id FROM resources
     WHERE last_verified_at IS NOT NULL AND NOT suspended_by_check AND NOT write_verified LIMIT ${FILL_BATCH} FOR UPDATE))`,
];

const FIRST = '00000000-0000-0000-0000-000000000000';

/** Walks the primary key: looking for what is left from the beginning would read what is deleted again each time. */
const ENDED_HOLDERS = `WITH batch AS (
    SELECT rule_id, resource_ip_id FROM rule_holders WHERE (rule_id, resource_ip_id) > ($1::uuid, $2::uuid)
    ORDER BY rule_id, resource_ip_id LIMIT ${BATCH}
  ), ended AS (
    SELECT h.rule_id, h.resource_ip_id FROM batch JOIN rule_holders h USING (rule_id, resource_ip_id)
    JOIN resource_ips ip ON ip.id = h.resource_ip_id
    WHERE ip.status IN ('REMOVED', 'FAILED') FOR UPDATE OF h SKIP LOCKED
  ), deleted AS (
    DELETE FROM rule_holders h USING ended WHERE h.rule_id = ended.rule_id AND h.resource_ip_id = ended.resource_ip_id
  )
  SELECT ARRAY[rule_id, resource_ip_id] AS after FROM batch ORDER BY rule_id DESC, resource_ip_id DESC LIMIT 1`;

const RULES_THAT_ARE_OVER = `WITH batch AS (
    SELECT id FROM rules WHERE id > $1::uuid ORDER BY id LIMIT ${BATCH}
  ), over AS (
    SELECT r.id FROM batch JOIN rules r USING (id)
    WHERE r.state = 'absent' AND r.due_at IS NULL AND (r.in_flight_until IS NULL OR r.in_flight_until < now())
      AND NOT EXISTS (SELECT FROM rule_holders h WHERE h.rule_id = r.id) FOR UPDATE OF r SKIP LOCKED
  ), deleted AS (
    DELETE FROM rules r USING over WHERE r.id = over.id
  )
  SELECT ARRAY[id] AS after FROM batch ORDER BY id DESC LIMIT 1`;

const MAX_ATTEMPTS = 20;
const DEADLOCK = '40P01';

export class EndedHoldersAndRules1790000100000 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    // A batch looks up its rows by their keys. By the statistics of before, reading a whole table for each looked cheaper.
    await runner.query('SET enable_seqscan = off');
    await walk(runner, ENDED_HOLDERS, [FIRST, FIRST]);
    await runner.query('VACUUM (ANALYZE, TRUNCATE false) rule_holders');
    await walk(runner, RULES_THAT_ARE_OVER, [FIRST]);
    await runner.query('VACUUM (ANALYZE, TRUNCATE false) rules');
    await runner.query('RESET enable_seqscan');
    for (const statement of FILL) await fill(runner, statement);
  }

  /** What was deleted was over: the release before does without it. */
  async down(): Promise<void> {}
}

/** @param first where the key begins, each batch after the one before */
async function walk(runner: QueryRunner, statement: string, first: readonly string[]): Promise<void> {
  for (let after: readonly string[] | undefined = first; after;) {
    const from: readonly string[] = after;
    const rows = await unlessDeadlocked(
      () => runner.query(statement, [...from]) as Promise<{ after: string[] }[]>,
    );
    after = rows[0]?.after;
  }
}

/** A row that changed meanwhile is left to the next batch, so that a batch need not be quite full to be followed by one. */
async function fill(runner: QueryRunner, statement: string): Promise<void> {
  for (let changed = FILL_BATCH; changed > FILL_BATCH / 2;) {
    [, changed] = (await unlessDeadlocked(() => runner.query(statement))) as [unknown[], number];
  }
}

/** A process of the release before may lock the same rows in another order; the victim is tried again. */
async function unlessDeadlocked<T>(work: () => Promise<T>): Promise<T> {
  for (let attempts = 1; ; attempts += 1) {
    try {
      return await work();
    } catch (error) {
      if (attempts === MAX_ATTEMPTS || (error as { code?: string }).code !== DEADLOCK) throw error;
    }
  }
}
