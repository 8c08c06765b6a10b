import type { MigrationInterface, QueryRunner } from 'typeorm';

interface Trigger {
  readonly name: string;
  readonly table: string;
  readonly columns: readonly string[];
  readonly tells: string;
}

/** Changes after which a process may no longer answer an agent from memory. */
const TRIGGERS: readonly Trigger[] = [
  {
    name: 'agents_changed_tell_agents',
    table: 'agents',
    columns: ['name', 'target_key', 'key_id', 'instance', 'pending_release'],
    tells: 'tell_agents_of_agent',
  },
  {
    name: 'api_keys_changed_tell_agents',
    table: 'api_keys',
    columns: ['revoked_at', 'expires_at', 'scopes', 'agents', 'user_id'],
    tells: 'tell_agents_of_key',
  },
  { name: 'users_changed_tell_agents', table: 'users', columns: ['is_active'], tells: 'tell_agents_of_user' },
  {
    name: 'organizations_changed_tell_agents',
    table: 'organizations',
    columns: ['suspended_at'],
    tells: 'tell_agents_of_organization',
  },
];

const tellingFunction = (name: string, which: string): string =>
  `CREATE OR REPLACE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    PERFORM pg_notify('agent_states', a.target_key) FROM agents a WHERE ${which};
    RETURN NULL;
  END $$`;

const NEW_FUNCTIONS = [
  tellingFunction(
    'tell_agents_of_user',
    'a.key_id IN (SELECT k.id FROM api_keys k WHERE k.organization_id = NEW.organization_id AND k.user_id = NEW.id)',
  ),
  tellingFunction('tell_agents_of_organization', 'a.organization_id = NEW.id'),
  // the row may be gone or have another host by now
  `CREATE OR REPLACE FUNCTION tell_agents_of_agent() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    PERFORM pg_notify('agent_states', OLD.target_key);
    RETURN NULL;
  END $$`,
];

const OF_KEY = 'a.organization_id = NEW.organization_id AND';
const KEY_FUNCTION = tellingFunction(
  'tell_agents_of_key',
  `${OF_KEY} (a.key_id = NEW.id OR a.name = ANY (OLD.agents || NEW.agents))`,
);
const FORMER_KEY_FUNCTION = tellingFunction('tell_agents_of_key', `${OF_KEY} a.name = ANY (NEW.agents)`);

const row = (version: string, columns: readonly string[]): string =>
  `(${columns.map((column) => `${version}.${column}`).join(', ')})`;

/**
 * A process answers an agent that has the current state from memory: whatever ends that is notified with its commit. One
 * table is locked at a time, and each statement can be repeated after an interruption.
 */
export class AgentWaits1790800000000 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of [...NEW_FUNCTIONS, KEY_FUNCTION]) await runner.query(statement);
    for (const { name, table, columns, tells } of TRIGGERS) {
      await runner.query(
        `CREATE OR REPLACE TRIGGER ${name} AFTER UPDATE OF ${columns.join(', ')} ON ${table} FOR EACH ROW
         WHEN (${row('OLD', columns)} IS DISTINCT FROM ${row('NEW', columns)}) EXECUTE FUNCTION ${tells}()`,
      );
    }
    await runner.query(
      `CREATE OR REPLACE TRIGGER agents_deleted_tell_agents AFTER DELETE ON agents
       FOR EACH ROW EXECUTE FUNCTION tell_agents_of_agent()`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TRIGGER IF EXISTS agents_deleted_tell_agents ON agents');
    for (const { name, table } of TRIGGERS) await runner.query(`DROP TRIGGER IF EXISTS ${name} ON ${table}`);
    await runner.query(FORMER_KEY_FUNCTION);
    for (const kind of ['user', 'organization', 'agent']) {
      await runner.query(`DROP FUNCTION IF EXISTS tell_agents_of_${kind}()`);
    }
  }
}
