import type { MigrationInterface, QueryRunner } from 'typeorm';

export class AbandonedResources1790000400000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE resources ADD abandoned_at timestamptz, ADD abandon_reason text');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE resources DROP abandon_reason, DROP abandoned_at');
  }
}
