import type { MigrationInterface, QueryRunner } from 'typeorm';
import { GrantVersions1790700000000 } from './1790700000000-grant-versions';

/** The statement that starts a session checks what it depends on itself. */
export class NoGrantVersions1791110000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    // with its eight triggers
    await runner.query('DROP FUNCTION renew_grant_version() CASCADE');
    await runner.query('DROP TABLE grant_versions');
  }

  down(runner: QueryRunner): Promise<void> {
    return new GrantVersions1790700000000().up(runner);
  }
}
