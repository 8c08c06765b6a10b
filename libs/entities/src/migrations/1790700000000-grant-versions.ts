import type { MigrationInterface, QueryRunner } from 'typeorm';

interface Change {
  readonly trigger: string;
  readonly table: string;
  readonly events: string;
  readonly when?: string;
}

// Health checks update resources all the time: only a new value of these counts.
const RESOURCE_COLUMNS = ['name', 'is_active', 'revision', 'target_id', 'config', 'deleted_at'];

/** The changes that count. Frequent ones of other columns (`last_used_at`) do not. */
const CHANGES: readonly Change[] = [
  ['organizations', 'UPDATE'],
  ['api_keys', 'UPDATE OF revoked_at, expires_at, scopes OR DELETE'],
  [
    'users',
    'UPDATE OF is_active, is_org_admin, is_service, email, name, platform_role, mfa_enabled OR DELETE',
  ],
  ['roles', 'UPDATE OR DELETE'],
  ['role_users', 'INSERT OR UPDATE OR DELETE'],
  ['role_resources', 'INSERT OR UPDATE OR DELETE'],
  ['resources', 'INSERT OR DELETE'],
]
  .map(([table, events]): Change => ({
    trigger: `${table}_renew_grant_version`,
    table: table!,
    events: events!,
  }))
  .concat({
    trigger: 'resources_changed_renew_grant_version',
    table: 'resources',
    events: 'UPDATE',
    when: `WHEN (${RESOURCE_COLUMNS.map((column) => `OLD.${column} IS DISTINCT FROM NEW.${column}`).join(' OR ')})`,
  });

const VERSIONS = [
  `CREATE TABLE IF NOT EXISTS grant_versions (
    organization_id uuid NOT NULL,
    version bigint NOT NULL,
    PRIMARY KEY (organization_id)
  )`,
  `CREATE OR REPLACE FUNCTION renew_grant_version() RETURNS trigger LANGUAGE plpgsql AS $$
  DECLARE
    changed uuid;
  BEGIN
    IF TG_TABLE_NAME = 'organizations' THEN
      changed := NEW.id;
    ELSIF TG_OP = 'DELETE' THEN
      changed := OLD.organization_id;
    ELSE
      changed := NEW.organization_id;
    END IF;
    INSERT INTO grant_versions AS v VALUES (changed, current_transaction())
    ON CONFLICT (organization_id) DO UPDATE SET version = EXCLUDED.version WHERE v.version <> EXCLUDED.version;
    RETURN NULL;
  END $$`,
];

/**
 * A session is started from remembered grants, if nothing they depend on has changed. One table is locked at a time, and
 * each statement can be repeated after an interruption.
 */
export class GrantVersions1790700000000 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of VERSIONS) await runner.query(statement);
    for (const { trigger, table, events, when = '' } of CHANGES) {
      await runner.query(`DROP TRIGGER IF EXISTS ${trigger} ON ${table}`);
      // deferred: the version is locked last in a transaction, so that two changes cannot wait for each other
      await runner.query(
        `CREATE CONSTRAINT TRIGGER ${trigger} AFTER ${events} ON ${table} DEFERRABLE INITIALLY DEFERRED
         FOR EACH ROW ${when} EXECUTE FUNCTION renew_grant_version()`,
      );
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const { trigger, table } of CHANGES)
      await runner.query(`DROP TRIGGER IF EXISTS ${trigger} ON ${table}`);
    await runner.query('DROP FUNCTION renew_grant_version()');
    await runner.query('DROP TABLE grant_versions');
  }
}
