import type { MigrationInterface, QueryRunner } from 'typeorm';
import { changeLocked } from '../table-locks';

const LIVE = `status IN ('PENDING', 'ACTIVE', 'PARTIAL')`;

/**
 * A session may have a lease. Cost of the upgrade: nullable columns without a default rewrite nothing, so the lock is held
 * for a moment; a stored column of the end would rewrite the table under its lock. The end is therefore an expression, and
 * its index, of live sessions only, is built beside the writers. Each statement can be repeated after an interruption.
 */
export class SessionLeases1790900000000 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await changeLocked(
      runner,
      ['sessions'],
      [
        `ALTER TABLE sessions ADD COLUMN IF NOT EXISTS lease_seconds integer,
           ADD COLUMN IF NOT EXISTS lease_until timestamptz`,
      ],
    );
    // one that was interrupted leaves an index that is not valid
    await runner.query('DROP INDEX IF EXISTS sessions_ends_idx');
    await runner.query(
      `CREATE INDEX CONCURRENTLY sessions_ends_idx ON sessions (least(expires_at, lease_until)) WHERE ${LIVE}`,
    );
    await runner.query('DROP INDEX CONCURRENTLY IF EXISTS sessions_expiry_idx');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`CREATE INDEX sessions_expiry_idx ON sessions (expires_at) WHERE ${LIVE}`);
    await runner.query('DROP INDEX sessions_ends_idx');
    await runner.query('ALTER TABLE sessions DROP COLUMN lease_seconds, DROP COLUMN lease_until');
  }
}
