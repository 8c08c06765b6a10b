import type { MigrationInterface, QueryRunner } from 'typeorm';

const UP = [
  // both at once and in this order: as a request of an agent touches them
  'LOCK TABLE agents, resources IN ACCESS EXCLUSIVE MODE',
  `ALTER TABLE agents ADD guard jsonb, ADD guard_reported_at timestamptz,
    ADD pending_release jsonb NOT NULL DEFAULT '[]'`,
  'ALTER TABLE resources ADD target_verified_at timestamptz, ADD guard_confirmed_at timestamptz',
  // What was verified keeps its guard.
  `UPDATE resources SET target_verified_at = last_verified_at
   WHERE last_verified_at IS NOT NULL AND deleted_at IS NULL`,

  // A verification and a confirmation change what a host is to guard, too.
  'DROP TRIGGER resources_updated_tell_agents ON resources',
  `CREATE TRIGGER resources_updated_tell_agents
    AFTER UPDATE OF target_id, config, deleted_at, target_verified_at, guard_confirmed_at ON resources
    FOR EACH ROW WHEN (NEW.provider = 'AGENT' AND
      (OLD.target_id, OLD.config, OLD.deleted_at, OLD.target_verified_at, OLD.guard_confirmed_at) IS DISTINCT FROM
      (NEW.target_id, NEW.config, NEW.deleted_at, NEW.target_verified_at, NEW.guard_confirmed_at))
    EXECUTE FUNCTION tell_agents_of_resource()`,
];

const DOWN = [
  'DROP TRIGGER resources_updated_tell_agents ON resources',
  `CREATE TRIGGER resources_updated_tell_agents AFTER UPDATE OF target_id, config, deleted_at ON resources
    FOR EACH ROW WHEN (NEW.provider = 'AGENT') EXECUTE FUNCTION tell_agents_of_resource()`,
  'ALTER TABLE resources DROP COLUMN guard_confirmed_at, DROP COLUMN target_verified_at',
  'ALTER TABLE agents DROP COLUMN pending_release, DROP COLUMN guard_reported_at, DROP COLUMN guard',
];

/** What a host guards: only what was verified or confirmed, what it reports, and what it is to release. */
export class HostGuards1790500000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const statement of UP) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const statement of DOWN) await runner.query(statement);
  }
}
