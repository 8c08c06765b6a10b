import { type AgentState, EngineStore } from '#engine-store';
import { NotificationFeed, type Tx } from '#entities';
import { storedHost, type StoredHost as Host } from '../builders/resources/stored-host';
import { ownDatabase } from '../harness/database/own-database';
import { until } from '../harness/until';

describe('Polls of agents that have the current state', () => {
  const database = ownDatabase(6);
  const { agents, agentStates: states } = new EngineStore();

  const served = (): Promise<Host> => storedHost(database);

  const sql = (statement: string, ...given: unknown[]): Promise<unknown> =>
    database.autocommit.query(statement, given);

  /** What a poll with nothing to decide is answered; null: it has to be admitted. */
  const polled = async ({ organization, visit }: Host): Promise<AgentState | null> => {
    const tx = database.autocommit;
    const agent = await agents.heard(tx, organization, visit);
    return agent && states.readUnchanged(tx, organization, agent);
  };

  it('are answered with the state, and noted with address and program', async () => {
    const host = await served();
    await sql(`UPDATE agents SET seen_at = now() - interval '50 seconds' WHERE id = $1`, host.agentId);
    const visit = { ...host.visit, address: '192.0.2.2', software: 'other' };
    const state = await polled({ ...host, visit });
    const expected = await states.preview(database.autocommit, host.organization, visit.targetKey);
    const { version } = host;
    expect(state).toEqual({ ...expected, version, serverTime: expect.any(Date) as Date });
    const [row] = await database.autocommit.query<object[]>(
      `SELECT address, software, seen_at > now() - interval '20 seconds' AS recent FROM agents WHERE id = $1`,
      [host.agentId],
    );
    expect(row).toEqual({ address: visit.address, software: visit.software, recent: true });
  });

  /** @returns whose states have changed since */
  async function listening(): Promise<{ told: string[]; feed: NotificationFeed }> {
    const told: string[] = [];
    const listener = { notified: (key: string) => void told.push(key), gap: () => undefined };
    const feed = new NotificationFeed(database.url, 'agent_states', listener, () => undefined);
    feed.start();
    await until('it listens', async () => feed.isListening);
    return { told, feed };
  }

  const CHANGES: [what: string, statement: string, of: (host: Host) => string][] = [
    ['it was away', `UPDATE agents SET seen_at = now() - interval '61 seconds' WHERE id = $1`, agentOf],
    ['another installation serves', `UPDATE agents SET instance = 'other' WHERE id = $1`, agentOf],
    ['the name has no key', 'UPDATE agents SET key_id = NULL WHERE id = $1', agentOf],
    ['another state was served last', `UPDATE agents SET served_version = '9-other' WHERE id = $1`, agentOf],
    [
      'traffic is to be released',
      `UPDATE agents SET pending_release = '[{"protocol": "tcp", "ports": [22]}]' WHERE id = $1`,
      agentOf,
    ],
    ['its key is revoked', 'UPDATE api_keys SET revoked_at = now() WHERE id = $1', keyOf],
    ['its key is expired', 'UPDATE api_keys SET expires_at = now() WHERE id = $1', keyOf],
    ['its key has another host', `UPDATE api_keys SET agents = '{other}' WHERE id = $1`, keyOf],
    ['its key has no scope', `UPDATE api_keys SET scopes = '{}' WHERE id = $1`, keyOf],
    [
      'its user is inactive',
      'UPDATE users SET is_active = false WHERE id = (SELECT user_id FROM api_keys WHERE id = $1)',
      keyOf,
    ],
    [
      'its resource has other ports',
      `UPDATE resources SET config = '{"port": 23}' WHERE organization_id = $1`,
      organizationOf,
    ],
    [
      'its resource is deleted',
      'UPDATE resources SET deleted_at = now() WHERE organization_id = $1',
      organizationOf,
    ],
    [
      'a rule was not offered',
      'UPDATE rules SET revision = revision + 1 WHERE accounted_to = $1',
      organizationOf,
    ],
  ];

  it.each(CHANGES)('have to be admitted when %s', async (...change) => {
    const [, statement, of] = change;
    const host = await served();
    await sql(statement, of(host));
    expect(await polled(host)).toBeNull();
  });

  it.each([
    ['key', { keyId: '00000000-0000-4000-8000-000000000000' }],
    ['installation', { instance: 'other' }],
  ])('of another %s have to be admitted', async (_, other) => {
    const host = await served();
    expect(await polled({ ...host, visit: { ...host.visit, ...other } })).toBeNull();
  });

  const NOTIFIED = CHANGES.filter(([what]) => /traffic|resource|rule/.test(what));

  it.each(NOTIFIED)('are notified when %s', async (...change) => {
    const [, statement, of] = change;
    const host = await served();
    const { told, feed } = await listening();
    await sql(statement, of(host));
    expect(await until('it is told', async () => told.includes(host.visit.targetKey))).toBe(true);
    await feed.close();
  });

  it('wait for no lock', async () => {
    const host = await served();
    await database.transaction(async (tx: Tx) => {
      await tx.query('SELECT 1 FROM agents WHERE id = $1 FOR UPDATE', [host.agentId]);
      expect(await polled(host)).toBeNull();
    });
    expect(await polled(host)).not.toBeNull();
  });

  it('do not notify: an idle agent stays idle', async () => {
    const host = await served();
    const { told, feed } = await listening();
    await polled(host);
    await database.transaction(async (tx) => {
      const admission = await agents.admit(tx, host.organization, host.visit);
      if (admission.kind === 'serving') await states.offer(tx, host.organization, admission.agent);
    });
    await sql(`SELECT pg_notify('agent_states', 'a later one')`);
    await until('the later one is told', async () => told.includes('a later one'));
    expect(told).toEqual(['a later one']);
    await feed.close();
  });
});

function agentOf({ agentId }: Host): string {
  return agentId;
}
function keyOf({ keyId }: Host): string {
  return keyId;
}
function organizationOf({ organization }: Host): string {
  return organization;
}
