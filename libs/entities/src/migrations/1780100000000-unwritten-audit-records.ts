import type { MigrationInterface, QueryRunner } from 'typeorm';

export class UnwrittenAuditRecords1780100000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      `CREATE TABLE unwritten_audit_records (
        id bigserial NOT NULL,
        organization_id uuid NOT NULL,
        entry jsonb NOT NULL,
        kept_at timestamptz NOT NULL DEFAULT now(),
        PRIMARY KEY (id)
      )`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE unwritten_audit_records');
  }
}
