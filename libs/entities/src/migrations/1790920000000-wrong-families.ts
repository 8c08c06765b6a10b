import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Addresses that a target cannot hold because of their IP version are told apart from other failures. */
export class WrongFamilies1790920000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE resource_ips ADD COLUMN wrong_family boolean NOT NULL DEFAULT false');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE resource_ips DROP COLUMN wrong_family');
  }
}
