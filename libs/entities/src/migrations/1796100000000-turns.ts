import type { MigrationInterface, QueryRunner } from 'typeorm';

export class Turns1796100000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE write_budgets ADD COLUMN IF NOT EXISTS queued_until timestamptz');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE write_budgets DROP COLUMN queued_until');
  }
}
