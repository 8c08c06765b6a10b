import { randomUUID } from 'node:crypto';
import { type AgentVisit, EngineStore } from '#engine-store';
import type { Database } from '#entities';
import { asOrganizationId, type OrganizationId } from '#rules';

export interface StoredHost {
  readonly organization: OrganizationId;
  readonly keyId: string;
  readonly visit: AgentVisit;
  readonly agentId: string;
  /** of the state it has */
  readonly version: string;
}

const { agents, agentStates: states } = new EngineStore();

/** A host of an organization of its own, with a rule, whose agent has the current state. */
export async function storedHost(database: Database): Promise<StoredHost> {
  const name = `host-${randomUUID()}`;
  const targetKey = `AGENT:host:${name}`;
  const [made] = await database.autocommit.query<{ organization: string; keyId: string }[]>(
    `WITH o AS (INSERT INTO organizations (name, slug) VALUES ($1, $1) RETURNING id),
     u AS (INSERT INTO users (organization_id, email, name) SELECT id, $1 || '@example.com', 'A' FROM o RETURNING id),
     k AS (INSERT INTO api_keys (organization_id, user_id, name, key_prefix, key_hash, scopes, agents, created_by_email)
       SELECT o.id, u.id, 'agent', 'dbk_', $1, '{agent:connect}', ARRAY[$1], 'a@example.com' FROM o, u RETURNING id),
     c AS (INSERT INTO credentials (organization_id, name, provider, credential_type, sealed_data)
       SELECT id, 'Hosts', 'AGENT', 'AGENT', '{}' FROM o RETURNING id),
     t AS (INSERT INTO targets (provider, key, resource_type, identifier)
       VALUES ('AGENT', $2, 'HOST_FIREWALL', $1) RETURNING id),
     rule AS (INSERT INTO rules (target_id, key, address, protocol, ports, state, revision, offered_revision, accounted_to)
       SELECT t.id, 'a', '203.0.113.1/32', 'tcp', '22', 'present', 1, 1, o.id FROM t, o)
     INSERT INTO resources (organization_id, name, credential_id, provider, resource_type, resource_identifier,
       target_id, is_active, config)
     SELECT o.id, 'one', c.id, 'AGENT', 'HOST_FIREWALL', $1, t.id, true, '{"port": 22}' FROM o, c, t
     RETURNING organization_id AS organization, (SELECT id FROM k) AS "keyId"`,
    [name, targetKey],
  );
  const organization = asOrganizationId(made!.organization);
  const { keyId } = made!;
  const visit = { name, targetKey, keyId, instance: 'only', address: '192.0.2.1', software: null };
  const { agentId, version } = await database.transaction(async (tx) => {
    const admission = await agents.admit(tx, organization, visit);
    if (admission.kind !== 'serving') throw new Error('The only agent was not let in');
    const state = await states.offer(tx, organization, admission.agent);
    return { agentId: admission.agent.id, version: state.version };
  });
  return { organization, keyId, visit, agentId, version };
}
