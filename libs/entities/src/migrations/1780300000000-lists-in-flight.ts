import type { MigrationInterface, QueryRunner } from 'typeorm';

export class ListsInFlight1780300000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE targets ADD in_flight_until timestamptz');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE targets DROP COLUMN in_flight_until');
  }
}
