import type { MigrationInterface, QueryRunner } from 'typeorm';

const UP = [
  `CREATE TABLE audit_checkpoints (
    organization_id uuid NOT NULL,
    position bigint NOT NULL,
    hash text NOT NULL,
    signed_at timestamptz NOT NULL,
    key_id text NOT NULL,
    signature text NOT NULL,
    PRIMARY KEY (organization_id, position)
  )`,
  `CREATE INDEX audit_checkpoints_signed_at_idx ON audit_checkpoints (signed_at)`,
  `CREATE TRIGGER audit_checkpoints_never_changed BEFORE UPDATE ON audit_checkpoints
    FOR EACH ROW EXECUTE FUNCTION refuse_audit_change()`,
  `CREATE TRIGGER audit_checkpoints_never_truncated BEFORE TRUNCATE ON audit_checkpoints
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change()`,
  // retention: of the days before the last 90, each organization's newest of the day stays
  `CREATE FUNCTION delete_superseded_audit_checkpoints(batch integer) RETURNS integer
    LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
    WITH superseded AS (
      SELECT c.organization_id, c.position FROM audit_checkpoints c
      WHERE c.signed_at < now() - interval '90 days' AND EXISTS (
        SELECT FROM audit_checkpoints later
        WHERE later.organization_id = c.organization_id AND later.position > c.position
          AND date_trunc('day', later.signed_at AT TIME ZONE 'UTC') = date_trunc('day', c.signed_at AT TIME ZONE 'UTC'))
      ORDER BY c.signed_at LIMIT batch
    ), deleted AS (
      DELETE FROM audit_checkpoints c USING superseded s
      WHERE c.organization_id = s.organization_id AND c.position = s.position RETURNING 1
    )
    SELECT count(*)::integer FROM deleted
  $$`,
];

const DOWN = ['DROP FUNCTION delete_superseded_audit_checkpoints', 'DROP TABLE audit_checkpoints'];

export class AuditCheckpoints1790300100000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const statement of UP) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const statement of DOWN) await runner.query(statement);
  }
}
