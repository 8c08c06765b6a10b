import type { MigrationInterface, QueryRunner } from 'typeorm';

/** How the access of an ended ResourceIp ended, for people. */
export class EndsOfAccess1791040000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE resource_ips ADD given_up text, ADD still_allowed_by text');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE resource_ips DROP still_allowed_by, DROP given_up');
  }
}
