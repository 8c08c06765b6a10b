import type { MigrationInterface, QueryRunner } from 'typeorm';
import { changeLocked } from '../table-locks';

const CHECK = 'audit_records_actor_type_check';

/** Not validated yet: the table's rows are not read under its lock. */
const actorTypes = (types: string): string[] => [
  `ALTER TABLE audit_records DROP CONSTRAINT IF EXISTS ${CHECK}`,
  `ALTER TABLE audit_records ADD CONSTRAINT ${CHECK} CHECK (actor_type IN (${types})) NOT VALID`,
];

/**
 * A session may have a token, and act with it. Cost of the upgrade: nullable columns rewrite nothing, the index is built and
 * the records are checked beside the writers. Each statement can be repeated after an interruption.
 */
export class SessionTokens1790900100000 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await changeLocked(
      runner,
      ['sessions'],
      [
        `ALTER TABLE sessions ADD COLUMN IF NOT EXISTS token_hash text,
           ADD COLUMN IF NOT EXISTS api_key_id uuid`,
      ],
    );
    // one that was interrupted leaves an index that is not valid
    await runner.query('DROP INDEX IF EXISTS sessions_token_hash_key');
    await runner.query(
      'CREATE UNIQUE INDEX CONCURRENTLY sessions_token_hash_key ON sessions (token_hash) WHERE token_hash IS NOT NULL',
    );
    await changeLocked(
      runner,
      ['audit_records'],
      actorTypes(`'USER', 'API_KEY', 'SYSTEM', 'AGENT', 'SESSION'`),
    );
    await runner.query(`ALTER TABLE audit_records VALIDATE CONSTRAINT ${CHECK}`);
  }

  /** Records of sessions stay: the check then applies to new ones. */
  async down(runner: QueryRunner): Promise<void> {
    await changeLocked(runner, ['audit_records'], actorTypes(`'USER', 'API_KEY', 'SYSTEM', 'AGENT'`));
    await runner.query('DROP INDEX sessions_token_hash_key');
    await runner.query('ALTER TABLE sessions DROP COLUMN token_hash, DROP COLUMN api_key_id');
  }
}
