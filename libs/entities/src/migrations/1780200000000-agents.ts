import type { MigrationInterface, QueryRunner } from 'typeorm';

const UP = [
  `CREATE TABLE agents (
    id uuid NOT NULL DEFAULT gen_random_uuid(),
    organization_id uuid NOT NULL,
    name text NOT NULL,
    target_key text NOT NULL,
    instance text NOT NULL,
    address text,
    software text,
    seen_at timestamptz NOT NULL,
    told_away boolean NOT NULL DEFAULT false,
    served_version text,
    rival_instance text,
    rival_address text,
    rival_seen_at timestamptz,
    rival_told_at timestamptz,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (id),
    CONSTRAINT agents_organization_id_name_key UNIQUE (organization_id, name),
    CONSTRAINT agents_target_key_key UNIQUE (target_key),
    CONSTRAINT agents_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations (id)
  )`,
  'ALTER TABLE rules ADD COLUMN offered_revision integer',

  // Whoever changes what an agent is to keep tells so in the same commit: nobody who writes rules can forget to.
  `CREATE FUNCTION tell_agents_of_rules() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    PERFORM pg_notify('agent_states', t.key) FROM targets t
    WHERE t.provider = 'AGENT' AND t.id IN (SELECT target_id FROM changed);
    RETURN NULL;
  END $$`,
  `CREATE TRIGGER rules_inserted_tell_agents AFTER INSERT ON rules
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION tell_agents_of_rules()`,
  `CREATE TRIGGER rules_updated_tell_agents AFTER UPDATE ON rules
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION tell_agents_of_rules()`,
  `CREATE FUNCTION tell_agents_of_resource() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    PERFORM pg_notify('agent_states', t.key) FROM targets t WHERE t.id = NEW.target_id
      OR (TG_OP = 'UPDATE' AND t.id = OLD.target_id);
    RETURN NULL;
  END $$`,
  `CREATE TRIGGER resources_inserted_tell_agents AFTER INSERT ON resources
    FOR EACH ROW WHEN (NEW.provider = 'AGENT') EXECUTE FUNCTION tell_agents_of_resource()`,
  `CREATE TRIGGER resources_updated_tell_agents AFTER UPDATE OF target_id, config, deleted_at ON resources
    FOR EACH ROW WHEN (NEW.provider = 'AGENT') EXECUTE FUNCTION tell_agents_of_resource()`,
];

const DOWN = [
  'DROP TRIGGER resources_updated_tell_agents ON resources',
  'DROP TRIGGER resources_inserted_tell_agents ON resources',
  'DROP FUNCTION tell_agents_of_resource()',
  'DROP TRIGGER rules_updated_tell_agents ON rules',
  'DROP TRIGGER rules_inserted_tell_agents ON rules',
  'DROP FUNCTION tell_agents_of_rules()',
  'ALTER TABLE rules DROP COLUMN offered_revision',
  'DROP TABLE agents',
];

export class Agents1780200000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const statement of UP) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const statement of DOWN) await runner.query(statement);
  }
}
