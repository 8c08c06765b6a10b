import type { MigrationInterface, QueryRunner } from 'typeorm';

/** When a worker last swept: without it, dead workers look like workers that have nothing to do. */
export class SweepHeartbeat1791030000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE sweeper_lease ADD COLUMN swept_at timestamptz');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE sweeper_lease DROP COLUMN swept_at');
  }
}
