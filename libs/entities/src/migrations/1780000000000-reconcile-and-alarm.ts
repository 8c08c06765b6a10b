import type { MigrationInterface, QueryRunner } from 'typeorm';

const UP = [
  `ALTER TABLE targets ADD reconcile_due_at timestamptz NOT NULL DEFAULT now()`,
  `ALTER TABLE targets ADD reconcile_requested boolean NOT NULL DEFAULT false`,
  `CREATE INDEX targets_reconcile_due_idx ON targets (reconcile_due_at)`,
  `ALTER TABLE rules ADD lost_count integer NOT NULL DEFAULT 0`,
  `ALTER TABLE rules ADD lost_at timestamptz`,
  `ALTER TABLE rules ADD target_missing_since timestamptz`,
  `ALTER TABLE resource_ips ADD released_at timestamptz`,
  `UPDATE resource_ips SET released_at = now() WHERE status = 'REMOVING'`,
  `CREATE INDEX resource_ips_overdue_idx ON resource_ips (released_at)
    WHERE status = 'REMOVING' AND overdue_at IS NULL`,
];

const DOWN = [
  `ALTER TABLE resource_ips DROP COLUMN released_at`,
  `ALTER TABLE rules DROP COLUMN lost_count, DROP COLUMN lost_at, DROP COLUMN target_missing_since`,
  `ALTER TABLE targets DROP COLUMN reconcile_due_at, DROP COLUMN reconcile_requested`,
];

export class ReconcileAndAlarm1780000000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const statement of UP) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const statement of DOWN) await runner.query(statement);
  }
}
