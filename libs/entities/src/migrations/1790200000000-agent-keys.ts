import type { MigrationInterface, QueryRunner } from 'typeorm';

const UP = [
  // both at once and in this order: as a request of an agent touches them
  'LOCK TABLE agents, api_keys IN ACCESS EXCLUSIVE MODE',
  `ALTER TABLE api_keys ADD agents text[] NOT NULL DEFAULT '{}'`,
  // Which key serves which host was not kept: a key of the release before goes on for the hosts its organization has.
  `UPDATE api_keys k SET agents = ARRAY(
     SELECT a.name FROM agents a WHERE a.organization_id = k.organization_id ORDER BY a.name)
   WHERE 'agent:connect' = ANY (k.scopes) AND k.revoked_at IS NULL`,
  'ALTER TABLE agents ADD key_id uuid, ADD released_until timestamptz',
  `ALTER TABLE agents ADD CONSTRAINT agents_key_id_fkey FOREIGN KEY (key_id) REFERENCES api_keys (id)
    ON DELETE SET NULL`,

  // A key that is revoked ends the waiting requests of its agents in the same commit.
  `CREATE FUNCTION tell_agents_of_key() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    PERFORM pg_notify('agent_states', a.target_key) FROM agents a
    WHERE a.organization_id = NEW.organization_id AND a.name = ANY (NEW.agents);
    RETURN NULL;
  END $$`,
  `CREATE TRIGGER api_keys_revoked_tell_agents AFTER UPDATE OF revoked_at ON api_keys
    FOR EACH ROW WHEN (OLD.revoked_at IS NULL AND NEW.revoked_at IS NOT NULL AND NEW.agents <> '{}')
    EXECUTE FUNCTION tell_agents_of_key()`,
];

const DOWN = [
  'DROP TRIGGER api_keys_revoked_tell_agents ON api_keys',
  'DROP FUNCTION tell_agents_of_key()',
  'ALTER TABLE agents DROP COLUMN released_until, DROP COLUMN key_id',
  'ALTER TABLE api_keys DROP COLUMN agents',
];

export class AgentKeys1790200000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const statement of UP) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const statement of DOWN) await runner.query(statement);
  }
}
