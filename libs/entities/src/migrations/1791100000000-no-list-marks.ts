import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Each name with what follows `ON`. */
const NEW = {
  sessions_list_idx: 'sessions (organization_id, status, created_at, id)',
  sessions_list_of_user_idx: 'sessions (user_id, status, created_at, id)',
} as const;

const FINISHED = `status IN ('FAILED', 'EXPIRED', 'CANCELLED')`;
const OLD = {
  sessions_organization_id_idx: 'sessions (organization_id, created_at)',
  sessions_user_id_idx: 'sessions (user_id, created_at)',
  sessions_unfinished_idx: `sessions (organization_id, created_at)
    WHERE status IN ('PENDING', 'ACTIVE', 'PARTIAL', 'EXPIRING')`,
  sessions_finished_idx: `sessions (organization_id, status, created_at) WHERE ${FINISHED}`,
  sessions_finished_of_user_idx: `sessions (user_id, status, created_at) WHERE ${FINISHED}`,
} as const;

const MARKS = [
  `CREATE TABLE IF NOT EXISTS list_marks (
    organization_id uuid NOT NULL,
    list uuid NOT NULL,
    at timestamptz NOT NULL,
    rows_before bigint NOT NULL,
    kind text NOT NULL DEFAULT '',
    PRIMARY KEY (organization_id, list, at)
  )`,
  'CREATE INDEX IF NOT EXISTS list_marks_rows_before_idx ON list_marks (organization_id, list, rows_before)',
  'CREATE INDEX IF NOT EXISTS list_marks_kind_idx ON list_marks (organization_id, kind, at)',
];

/**
 * Lists are counted by an index alone. Indexes are built beside their writers, which takes no transaction; each statement can
 * be repeated after an interruption.
 */
export class NoListMarks1791100000000 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await exchange(runner, NEW, OLD);
    await runner.query('DROP TABLE IF EXISTS list_marks');
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const statement of MARKS) await runner.query(statement);
    await exchange(runner, OLD, NEW);
  }
}

async function exchange(
  runner: QueryRunner,
  come: Readonly<Record<string, string>>,
  go: Readonly<Record<string, string>>,
): Promise<void> {
  for (const [name, on] of Object.entries(come)) {
    // one that was interrupted leaves an index that is not valid
    await runner.query(`DROP INDEX IF EXISTS ${name}`);
    await runner.query(`CREATE INDEX CONCURRENTLY ${name} ON ${on}`);
  }
  for (const name of Object.keys(go)) await runner.query(`DROP INDEX CONCURRENTLY IF EXISTS ${name}`);
}
