import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A few changes on a quiet target are written at once, by tokens. */
export class PromptWrites1790600900000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE targets ADD COLUMN prompt_writes float8');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE targets DROP COLUMN prompt_writes');
  }
}
