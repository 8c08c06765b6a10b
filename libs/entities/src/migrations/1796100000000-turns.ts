import type { MigrationInterface, QueryRunner } from 'typeorm';

export class Turns1796100000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      `ALTER TABLE write_budgets ADD COLUMN IF NOT EXISTS additions_until timestamptz,
         ADD COLUMN IF NOT EXISTS removals_until timestamptz, ADD COLUMN IF NOT EXISTS verifications_until timestamptz`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(
      `ALTER TABLE write_budgets DROP COLUMN additions_until, DROP COLUMN removals_until,
         DROP COLUMN verifications_until`,
    );
  }
}
