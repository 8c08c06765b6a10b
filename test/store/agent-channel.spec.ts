import { randomUUID } from 'node:crypto';
import { type AgentVisit, EngineStore, type ServingAgent } from '#engine-store';
import { type AuditEntry, NotificationFeed, type Tx } from '#entities';
import { SessionStore } from '#tenant-store';
import { asOrganizationId, type OrganizationId } from '#rules';
import { ownDatabase } from '../harness/database/own-database';
import { until } from '../harness/until';

const TARGET_KEY = 'AGENT:host:one';
const BY_NOBODY: AuditEntry = {
  actorType: 'SYSTEM',
  actorId: null,
  actorEmail: null,
  ipAddress: null,
  eventType: 'SESSION_STARTED',
  resourceType: 'SESSION',
  resourceId: null,
  resourceName: null,
};

describe('The agent channel in the database', () => {
  const database = ownDatabase(6);
  let organization: OrganizationId;
  let userId: string;
  let keyId: string;
  let place: { resourceId: string; targetId: string };
  const { agents, agentStates: states } = new EngineStore();
  const sessions = new SessionStore();

  beforeAll(async () => {
    const [made] = await database.autocommit.query<
      { organization: string; userId: string; keyId: string; resourceId: string; targetId: string }[]
    >(
      `WITH o AS (INSERT INTO organizations (name, slug) VALUES ('Example', 'example') RETURNING id),
       u AS (INSERT INTO users (organization_id, email, name) SELECT id, 'a@example.com', 'A' FROM o RETURNING id),
       k AS (INSERT INTO api_keys (organization_id, user_id, name, key_prefix, key_hash, scopes, created_by_email)
         SELECT o.id, u.id, 'agent', 'dbk_', 'hash', '{agent:connect}', 'a@example.com' FROM o, u RETURNING id),
       c AS (INSERT INTO credentials (organization_id, name, provider, credential_type, sealed_data)
         SELECT id, 'Hosts', 'AGENT', 'AGENT', '{}' FROM o RETURNING id),
       t AS (INSERT INTO targets (provider, key, resource_type, identifier)
         VALUES ('AGENT', '${TARGET_KEY}', 'HOST_FIREWALL', 'one') RETURNING id)
       INSERT INTO resources (organization_id, name, credential_id, provider, resource_type, resource_identifier,
         target_id, is_active, config)
       SELECT o.id, 'one', c.id, 'AGENT', 'HOST_FIREWALL', 'one', t.id, true, '{"port": 22}' FROM o, c, t
       RETURNING organization_id AS organization, (SELECT id FROM u) AS "userId", (SELECT id FROM k) AS "keyId", id AS "resourceId",
         target_id AS "targetId"`,
    );
    organization = asOrganizationId(made!.organization);
    await database.autocommit.query(
      `WITH role AS (INSERT INTO roles (organization_id, name) VALUES ($1, 'all') RETURNING id),
       users AS (INSERT INTO role_users (organization_id, role_id, user_id) SELECT $1, id, $2 FROM role)
       INSERT INTO role_resources (organization_id, role_id, resource_id) SELECT $1, id, $3 FROM role`,
      [organization, made!.userId, made!.resourceId],
    );
    ({ userId, keyId } = made!);
    place = made!;
  });

  const visit = (instance: string): AgentVisit => ({
    name: 'one',
    targetKey: TARGET_KEY,
    keyId,
    instance,
    address: '192.0.2.1',
    software: null,
  });

  async function admitted(tx: Tx): Promise<ServingAgent> {
    const admission = await agents.admit(tx, organization, visit('only'));
    if (admission.kind !== 'serving') throw new Error('The only agent was not let in');
    return admission.agent;
  }

  const offered = (): ReturnType<EngineStore['agentStates']['offer']> =>
    database.transaction(async (tx) => states.offer(tx, organization, await admitted(tx)));

  let addresses = 0;

  async function started(): Promise<{ id: string; address: string; ipAddress: string }> {
    const ipAddress = `203.0.113.${(addresses += 1)}`;
    const spec = { address: `${ipAddress}/32`, protocol: 'tcp' as const, ports: [{ from: 22, to: 22 }] };
    const opening = { ...place, revision: 0, ipVersion: 4 as const, ipAddress, specs: [spec] };
    const session = {
      id: randomUUID(),
      userId,
      holder: '',
      ipv4Address: ipAddress,
      ipv6Address: null,
      hours: 1,
      leaseSeconds: null,
      replaced: null,
      tokenHash: null,
      apiKeyId: null,
      reason: null,
      ticket: null,
      permission: { reasonPatterns: null, accessRequestId: null, brokenBy: null },
      holders: [opening],
      limits: { perUser: 50, perServiceUser: 500 },
    };
    const row = await sessions.start(database.autocommit, organization, session, BY_NOBODY);
    if (!row) throw new Error('The session was not started');
    return { id: row.id, address: spec.address, ipAddress };
  }

  const stop = (tx: Tx, id: string): Promise<unknown> =>
    sessions.stop(tx, organization, {
      id,
      reason: 'MANUAL',
      userId: null,
      audit: { ...BY_NOBODY, eventType: 'SESSION_STOPPED' },
    });

  const stateOf = async (address: string): Promise<string> => {
    const [rule] = await database.autocommit.query<{ state: string }[]>(
      'SELECT state FROM rules WHERE target_id = $1 AND address = $2',
      [place.targetId, address],
    );
    return rule!.state;
  };

  it('a rule is recorded as possibly present before it is sent to an agent', async () => {
    const { id, address, ipAddress } = await started();
    expect(await stateOf(address)).toBe('absent');
    const state = await offered();
    expect(state.rules.map((rule) => rule.ipAddress)).toEqual([ipAddress]);
    expect(await stateOf(address)).toBe('unknown');
    await database.statement((tx) => stop(tx, id));
    await offered();
  });

  it('a rule that is released while the state is read is neither sent nor recorded', async () => {
    const { id, address, ipAddress } = await started();
    let telling: ReturnType<typeof offered> | undefined;
    await database.transaction(async (tx) => {
      await stop(tx, id);
      telling = offered();
      await until('the reader waits for whoever lets go', async () => {
        const waiting = await database.autocommit.query<unknown[]>(
          `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
        );
        return waiting.length > 0;
      });
    });
    expect((await telling!).rules.map((rule) => rule.ipAddress)).not.toContain(ipAddress);
    expect(await stateOf(address)).toBe('absent');
  });

  it('the version stays while nothing changes, and a state that recurs has a new one', async () => {
    const empty = (await offered()).version;
    expect((await offered()).version).toBe(empty);
    const { id } = await started();
    const one = (await offered()).version;
    expect((await offered()).version).toBe(one);
    await database.statement((tx) =>
      sessions.extend(
        tx,
        organization,
        id,
        { additionalHours: 1, tierHours: 24 },
        { ...BY_NOBODY, eventType: 'SESSION_EXTENDED' },
      ),
    );
    const longer = (await offered()).version;
    await database.statement((tx) => stop(tx, id));
    const again = (await offered()).version;
    expect(new Set([empty, one, longer, again]).size).toBe(4);
  });

  it('of concurrent installations one is accepted', async () => {
    const newcomer = (instance: string): Promise<string> =>
      database.transaction(async (tx) => {
        const here = { ...visit(instance), name: 'crowded', targetKey: 'AGENT:host:crowded' };
        return (await agents.admit(tx, organization, here)).kind;
      });
    const admissions = await Promise.all(['a', 'b', 'c', 'd', 'e', 'f'].map(newcomer));
    expect(admissions.toSorted()).toEqual(['rival', 'rival', 'rival', 'rival', 'rival', 'serving']);
  });

  it('a change of an agent’s state is notified with the commit, not before', async () => {
    const told: string[] = [];
    const listener = { notified: (key: string) => void told.push(key), gap: () => undefined };
    const feed = new NotificationFeed(database.url, 'agent_states', listener, () => undefined);
    feed.start();
    await until('it listens', async () => feed.isListening);
    const { id } = await started();
    await until('the start is told', async () => told.length > 0);
    expect(new Set(told)).toEqual(new Set([TARGET_KEY]));
    told.length = 0;
    await database.transaction(async (tx) => {
      await stop(tx, id);
      await database.autocommit.query(`SELECT pg_notify('agent_states', 'a later one')`);
      await until('the later one is told', async () => told.includes('a later one'));
      expect(told).not.toContain(TARGET_KEY);
    });
    await until('the stop is told', async () => told.includes(TARGET_KEY));
    await feed.close();
  });
});
