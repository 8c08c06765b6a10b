import type { MigrationInterface, QueryRunner } from 'typeorm';
import { lockTables } from '../table-locks';

/** What can be opened, and who can open it, begins with a row of one of these. */
const GUARDED = ['users', 'credentials', 'resources'];

const UP = [
  'ALTER TABLE organizations ADD deleted_at timestamptz, ADD closed_at timestamptz',
  'CREATE INDEX organizations_deleted_idx ON organizations (closed_at) WHERE deleted_at IS NOT NULL',
  // waits for a deletion that has locked the organization; 40001: the request is tried again, and then refused
  `CREATE FUNCTION refuse_in_deleted_organization() RETURNS trigger LANGUAGE plpgsql AS $$
  DECLARE
    gone timestamptz;
  BEGIN
    SELECT deleted_at INTO gone FROM organizations WHERE id = NEW.organization_id FOR KEY SHARE;
    IF gone IS NOT NULL THEN
      RAISE EXCEPTION 'the organization is deleted' USING ERRCODE = '40001';
    END IF;
    RETURN NEW;
  END $$`,
  ...GUARDED.map(
    (table) => `CREATE TRIGGER ${table}_of_deleted_organization BEFORE INSERT ON ${table}
      FOR EACH ROW EXECUTE FUNCTION refuse_in_deleted_organization()`,
  ),
];

export class OrganizationDeletion1791080000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await lockTables(runner, ['organizations', ...GUARDED]);
    for (const statement of UP) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP FUNCTION refuse_in_deleted_organization CASCADE');
    await runner.query('ALTER TABLE organizations DROP deleted_at, DROP closed_at');
  }
}
