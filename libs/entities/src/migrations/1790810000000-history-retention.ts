import type { MigrationInterface, QueryRunner } from 'typeorm';
import { changeLocked } from '../table-locks';

/** Each name with what follows `ON`. */
const INDEXES = {
  // for deleting the marks of a list's oldest rows
  list_marks_kind_idx: 'list_marks (organization_id, kind, at)',
  payment_events_created_at_idx: 'payment_events (created_at)',
} as const;

const TABLES = [
  `ALTER TABLE list_marks ADD COLUMN IF NOT EXISTS kind text NOT NULL DEFAULT ''`,
  // the ranges of each chain whose records are not in the database any more
  `CREATE TABLE IF NOT EXISTS audit_exports (
    organization_id uuid NOT NULL,
    first_position bigint NOT NULL,
    last_position bigint NOT NULL,
    hash_before text NOT NULL,
    hash text NOT NULL,
    month text NOT NULL,
    dropped_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT audit_exports_range_check CHECK (first_position >= 1 AND last_position >= first_position),
    PRIMARY KEY (organization_id, first_position)
  )`,
  `CREATE OR REPLACE TRIGGER audit_exports_append_only BEFORE UPDATE OR DELETE ON audit_exports
    FOR EACH ROW EXECUTE FUNCTION refuse_audit_change()`,
  `CREATE OR REPLACE TRIGGER audit_exports_never_truncated BEFORE TRUNCATE ON audit_exports
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change()`,
];

/** A session is history once nothing of it can be open. Whoever deletes sooner, by whatever statement, is refused. */
const SESSIONS = [
  `CREATE OR REPLACE FUNCTION refuse_open_session_deletion() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF OLD.status IN ('FAILED', 'EXPIRED', 'CANCELLED') AND NOT EXISTS (
        SELECT FROM resource_ips ip WHERE ip.session_id = OLD.id AND (ip.status IN ('PENDING', 'APPLIED', 'REMOVING')
          OR EXISTS (SELECT FROM rule_holders h WHERE h.resource_ip_id = ip.id)))
      THEN
        RETURN OLD;
      END IF;
      RAISE EXCEPTION 'session % may still hold an open rule', OLD.id USING ERRCODE = 'restrict_violation';
    END
  $$`,
  `CREATE OR REPLACE TRIGGER sessions_kept_while_open BEFORE DELETE ON sessions
    FOR EACH ROW EXECUTE FUNCTION refuse_open_session_deletion()`,
];

/** A seal may go only after its record has gone into an export. */
const SEALS = [
  `CREATE OR REPLACE FUNCTION refuse_seal_deletion() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF OLD.position <= (
        SELECT e.last_position FROM audit_exports e
        WHERE e.organization_id = OLD.organization_id AND e.first_position <= OLD.position
        ORDER BY e.first_position DESC LIMIT 1)
      THEN
        RETURN OLD;
      END IF;
      RAISE EXCEPTION 'audit seals are append-only';
    END
  $$`,
  `CREATE OR REPLACE TRIGGER audit_seals_append_only BEFORE UPDATE ON audit_seals
    FOR EACH ROW EXECUTE FUNCTION refuse_audit_change()`,
  `CREATE OR REPLACE TRIGGER audit_seals_kept_until_exported BEFORE DELETE ON audit_seals
    FOR EACH ROW EXECUTE FUNCTION refuse_seal_deletion()`,
];

const DOWN = [
  `CREATE OR REPLACE TRIGGER audit_seals_append_only BEFORE UPDATE OR DELETE ON audit_seals
    FOR EACH ROW EXECUTE FUNCTION refuse_audit_change()`,
  'DROP TRIGGER audit_seals_kept_until_exported ON audit_seals',
  'DROP TRIGGER sessions_kept_while_open ON sessions',
  'DROP FUNCTION refuse_open_session_deletion, refuse_seal_deletion',
  'DROP TABLE audit_exports',
  ...Object.keys(INDEXES).map((name) => `DROP INDEX ${name}`),
  'ALTER TABLE list_marks DROP COLUMN kind',
];

/** What retention needs. Each statement can be repeated after an interruption. */
export class HistoryRetention1790810000000 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await changeLocked(runner, ['list_marks'], TABLES);
    await changeLocked(runner, ['sessions'], SESSIONS);
    await changeLocked(runner, ['audit_seals'], SEALS);
    for (const [name, on] of Object.entries(INDEXES)) {
      // one that was interrupted leaves an index that is not valid
      await runner.query(`DROP INDEX IF EXISTS ${name}`);
      await runner.query(`CREATE INDEX CONCURRENTLY ${name} ON ${on}`);
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const statement of DOWN) await runner.query(statement);
  }
}
