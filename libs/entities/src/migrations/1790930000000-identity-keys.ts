import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A few rows: one key a year, and what is left of the one before. */
export class IdentityKeys1790930000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`CREATE TABLE identity_keys (
      kid text PRIMARY KEY,
      generation integer NOT NULL CONSTRAINT identity_keys_generation_key UNIQUE,
      public_key jsonb NOT NULL,
      master_key_version integer NOT NULL,
      sealed_key text NOT NULL,
      signs_from timestamptz NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now()
    )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE identity_keys');
  }
}
