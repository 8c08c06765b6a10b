import type { MigrationInterface, QueryRunner } from 'typeorm';

const FINISHED = `status IN ('FAILED', 'EXPIRED', 'CANCELLED')`;

/** Each name with what follows `ON`. */
const INDEXES = {
  audit_records_event_type_idx: 'audit_records (organization_id, event_type, timestamp)',
  audit_records_actor_email_idx: `audit_records (organization_id, actor_email, timestamp)
    WHERE actor_email IS NOT NULL`,
  audit_records_actor_id_idx:
    'audit_records (organization_id, actor_id, timestamp) WHERE actor_id IS NOT NULL',
  audit_records_resource_id_idx: 'audit_records (organization_id, resource_id, timestamp)',
  audit_records_user_id_idx: `audit_records (organization_id, (details->>'userId'), timestamp)
    WHERE details->>'userId' IS NOT NULL`,
  audit_records_denied_idx: `audit_records (organization_id, timestamp)
    WHERE result = 'FAILURE' AND actor_type <> 'SYSTEM'`,
  sessions_unfinished_idx: `sessions (organization_id, created_at)
    WHERE status IN ('PENDING', 'ACTIVE', 'PARTIAL', 'EXPIRING')`,
  sessions_finished_idx: `sessions (organization_id, status, created_at) WHERE ${FINISHED}`,
  sessions_finished_of_user_idx: `sessions (user_id, status, created_at) WHERE ${FINISHED}`,
  // which sessions overlap a time that is longer ago than the longest session lasts
  sessions_long_idx: `sessions (organization_id, created_at)
    WHERE coalesce(ended_at, expires_at) - created_at > interval '25 hours'`,
  // replaces the one on resource_id alone
  resource_ips_sessions_idx: 'resource_ips (resource_id, created_at, session_id)',
} as const;

const MARKS = [
  `CREATE TABLE IF NOT EXISTS list_marks (
    organization_id uuid NOT NULL,
    list uuid NOT NULL,
    at timestamptz NOT NULL,
    rows_before bigint NOT NULL,
    PRIMARY KEY (organization_id, list, at)
  )`,
  `CREATE INDEX IF NOT EXISTS list_marks_rows_before_idx ON list_marks (organization_id, list, rows_before)`,
];

/**
 * One page of a list costs the same, however long the list is. Indexes are built beside their writers, which takes no
 * transaction; each statement can be repeated after an interruption.
 */
export class FlatLists1790600000000 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of MARKS) await runner.query(statement);
    for (const [name, on] of Object.entries(INDEXES)) {
      // one that was interrupted leaves an index that is not valid
      await runner.query(`DROP INDEX IF EXISTS ${name}`);
      await runner.query(`CREATE INDEX CONCURRENTLY ${name} ON ${on}`);
    }
    await runner.query('DROP INDEX CONCURRENTLY IF EXISTS resource_ips_resource_id_idx');
    // no foreign key refers to it: holders refer to the id alone
    await runner.query(
      'ALTER TABLE resource_ips DROP CONSTRAINT IF EXISTS resource_ips_organization_id_id_key',
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(
      'ALTER TABLE resource_ips ADD CONSTRAINT resource_ips_organization_id_id_key UNIQUE (organization_id, id)',
    );
    await runner.query('CREATE INDEX resource_ips_resource_id_idx ON resource_ips (resource_id)');
    for (const name of Object.keys(INDEXES)) await runner.query(`DROP INDEX IF EXISTS ${name}`);
    await runner.query('DROP TABLE list_marks');
  }
}
