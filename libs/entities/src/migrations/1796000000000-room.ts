import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Can be repeated from its beginning: it is more than one commit. */
export class Room1796000000000 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      'ALTER TABLE targets ADD COLUMN IF NOT EXISTS room jsonb, ADD COLUMN IF NOT EXISTS account_key text',
    );
    await runner.query(
      `CREATE INDEX CONCURRENTLY IF NOT EXISTS targets_account_key_idx ON targets (account_key)
       WHERE account_key IS NOT NULL`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE targets DROP COLUMN room, DROP COLUMN account_key');
  }
}
