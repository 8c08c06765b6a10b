import type { MigrationInterface, QueryRunner } from 'typeorm';

/** One name for rules that this deployment did not create: unmanaged. Only the name of the column changes. */
export class UnmanagedRules1790500000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE rules RENAME COLUMN is_foreign TO is_unmanaged');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE rules RENAME COLUMN is_unmanaged TO is_foreign');
  }
}
