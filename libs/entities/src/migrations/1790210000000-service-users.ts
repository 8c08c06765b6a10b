import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A service user has nothing to sign in with, and administers nothing, whatever a program asks. */
const WITHOUT_ACCOUNT = `NOT is_service OR (NOT is_org_admin AND platform_role = 'CUSTOMER'
  AND password_hash IS NULL AND mfa_sealed_secret IS NULL AND NOT mfa_enabled)`;

export class ServiceUsers1790210000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      `ALTER TABLE users ADD is_service boolean NOT NULL DEFAULT false,
         ADD CONSTRAINT users_service_check CHECK (${WITHOUT_ACCOUNT})`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE users DROP CONSTRAINT users_service_check, DROP is_service');
  }
}
