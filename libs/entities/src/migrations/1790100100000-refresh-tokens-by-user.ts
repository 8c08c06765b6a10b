import type { MigrationInterface, QueryRunner } from 'typeorm';

/** For a user's own list of sign-ins, and for ending them all. Built beside its writers, which takes no transaction. */
export class RefreshTokensByUser1790100100000 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    // one that was interrupted leaves an index that is not valid
    await runner.query('DROP INDEX IF EXISTS refresh_tokens_user_id_idx');
    await runner.query('CREATE INDEX CONCURRENTLY refresh_tokens_user_id_idx ON refresh_tokens (user_id)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX IF EXISTS refresh_tokens_user_id_idx');
  }
}
