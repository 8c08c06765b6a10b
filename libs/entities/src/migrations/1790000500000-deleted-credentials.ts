import type { MigrationInterface, QueryRunner } from 'typeorm';

export class DeletedCredentials1790000500000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE credentials ADD deleted_at timestamptz');
    await runner.query(
      'CREATE INDEX credentials_deleted_idx ON credentials (check_due_at) WHERE deleted_at IS NOT NULL',
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE credentials DROP deleted_at');
  }
}
