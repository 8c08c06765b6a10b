import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The rules are locked first: in a function, the statements after the lock see what a concurrent release has committed.
 * `cause` and `unwanted_since` of a rule that already was unwanted stay. Both return `[{provider, targetIds}]`.
 */
const FUNCTIONS = [
  `CREATE OR REPLACE FUNCTION release_claims(why text, claimed_rules uuid[], claimed_ips uuid[]) RETURNS jsonb
  LANGUAGE plpgsql AS $$
  DECLARE
    left_rules uuid[];
    left_by uuid[];
    woken jsonb;
  BEGIN
    PERFORM 1 FROM rules WHERE id = ANY (claimed_rules) ORDER BY id FOR NO KEY UPDATE;
    WITH gone AS (
      UPDATE rule_holders h SET released_at = now(), release_cause = why
      FROM unnest(claimed_rules, claimed_ips) AS claim(rule_id, resource_ip_id)
      WHERE h.rule_id = claim.rule_id AND h.resource_ip_id = claim.resource_ip_id AND h.released_at IS NULL
      RETURNING h.rule_id, h.resource_ip_id
    )
    SELECT array_agg(gone.rule_id), array_agg(ip.organization_id) INTO left_rules, left_by
    FROM gone JOIN resource_ips ip ON ip.id = gone.resource_ip_id;
    WITH due AS (
      UPDATE rules r SET due_at = now(), revision = revision + 1, attempts = 0, closing = true,
        accounted_to = held.organization_id,
        unwanted_since = CASE WHEN held.kept THEN r.unwanted_since ELSE coalesce(r.unwanted_since, now()) END,
        cause = CASE WHEN held.kept THEN r.cause ELSE coalesce(r.cause, why) END
      FROM (
        SELECT DISTINCT ON (g.rule_id) g.rule_id, g.organization_id, EXISTS (
          SELECT FROM rule_holders other WHERE other.rule_id = g.rule_id AND other.released_at IS NULL) AS kept
        FROM unnest(left_rules, left_by) AS g(rule_id, organization_id) ORDER BY g.rule_id
      ) held
      WHERE r.id = held.rule_id RETURNING r.target_id
    )
    SELECT coalesce(jsonb_agg(to_jsonb(woken_targets)), '[]') INTO woken
    FROM (
      SELECT t.provider, jsonb_agg(t.id) AS "targetIds"
      FROM targets t WHERE t.id IN (SELECT target_id FROM due) GROUP BY t.provider
    ) woken_targets;
    RETURN woken;
  END $$`,
  `CREATE OR REPLACE FUNCTION release_ips(why text, ids uuid[]) RETURNS jsonb LANGUAGE plpgsql AS $$
  DECLARE
    released uuid[];
    claimed_rules uuid[];
    claimed_ips uuid[];
  BEGIN
    PERFORM 1 FROM rules WHERE id IN (SELECT h.rule_id FROM rule_holders h WHERE h.resource_ip_id = ANY (ids))
    ORDER BY id FOR NO KEY UPDATE;
    WITH removing AS (
      UPDATE resource_ips SET status = 'REMOVING', released_at = now()
      WHERE id = ANY (ids) AND status IN ('PENDING', 'APPLIED') RETURNING id
    )
    SELECT array_agg(id) INTO released FROM removing;
    SELECT array_agg(h.rule_id), array_agg(h.resource_ip_id) INTO claimed_rules, claimed_ips
    FROM rule_holders h WHERE h.resource_ip_id = ANY (released) AND h.released_at IS NULL;
    RETURN release_claims(why, claimed_rules, claimed_ips);
  END $$`,
];

/** Releasing is one statement for the caller. */
export class ReleaseFunctions1790820000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const statement of FUNCTIONS) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP FUNCTION release_ips, release_claims');
  }
}
