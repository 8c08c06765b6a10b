import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Rows that are changed in one commit. */
const BATCH = 1000;

/** A column without a value for existing rows is added at once, however many there are. */
const COLUMNS = `
ALTER TABLE role_users ADD COLUMN IF NOT EXISTS id uuid, ADD COLUMN IF NOT EXISTS reviewed_at timestamptz,
  ADD COLUMN IF NOT EXISTS reviewed_by_email text;
ALTER TABLE role_users ALTER COLUMN id SET DEFAULT gen_random_uuid();
ALTER TABLE static_ip_rules ADD COLUMN IF NOT EXISTS review_by timestamptz, ADD COLUMN IF NOT EXISTS reviewed_at timestamptz,
  ADD COLUMN IF NOT EXISTS reviewed_by_email text;
ALTER TABLE organizations ADD COLUMN IF NOT EXISTS membership_review_days integer
    CONSTRAINT organizations_membership_review_days_check CHECK (membership_review_days BETWEEN 30 AND 730),
  ADD COLUMN IF NOT EXISTS static_rule_review_days integer
    CONSTRAINT organizations_static_rule_review_days_check CHECK (static_rule_review_days BETWEEN 30 AND 730),
  ADD COLUMN IF NOT EXISTS max_resources_per_session integer
    CONSTRAINT organizations_max_resources_per_session_check CHECK (max_resources_per_session BETWEEN 1 AND 2000);
`;

/** Can be repeated from its beginning: it is more than one commit. */
export class Reviews1795900000000 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(COLUMNS);
    for (;;) {
      const [, changed] = (await runner.query(
        `UPDATE role_users SET id = gen_random_uuid() WHERE (user_id, role_id) IN (
           SELECT user_id, role_id FROM role_users WHERE id IS NULL LIMIT ${BATCH})`,
      )) as [unknown, number];
      if (changed === 0) break;
    }
    await runner.query('ALTER TABLE role_users ALTER COLUMN id SET NOT NULL');
    await runner.query('CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS role_users_id_key ON role_users (id)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE organizations DROP COLUMN membership_review_days, DROP COLUMN static_rule_review_days,
        DROP COLUMN max_resources_per_session;
      ALTER TABLE static_ip_rules DROP COLUMN review_by, DROP COLUMN reviewed_at, DROP COLUMN reviewed_by_email;
      ALTER TABLE role_users DROP COLUMN id, DROP COLUMN reviewed_at, DROP COLUMN reviewed_by_email;
    `);
  }
}
