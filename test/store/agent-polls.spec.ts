import { AgentPollStore, AgentStateStore, AgentStore } from '#engine-store';
import { Database, NotificationFeed, type Tx } from '#entities';
import { storedHost, type StoredHost as Host } from '../builders/stored-host';
import { cloneDatabase } from '../harness/database';
import { until } from '../harness/until';

describe('Polls of agents that have the current state', () => {
  let url: string;
  let drop: () => Promise<void>;
  let database: Database;
  const polls = new AgentPollStore();
  const agents = new AgentStore();
  const states = new AgentStateStore();

  beforeAll(async () => {
    ({ url, drop } = await cloneDatabase());
    database = await new Database({ url, applicationName: 'agent-test', poolSize: 6 }).connect();
  });
  afterAll(async () => {
    await database.close();
    await drop();
  });

  const served = (): Promise<Host> => storedHost(database);

  const sql = (statement: string, ...given: unknown[]): Promise<unknown> =>
    database.autocommit.query(statement, given);

  const proven = async (...hosts: Host[]): Promise<string[]> => {
    const found = await polls.prove(
      database.autocommit,
      hosts.map(({ polled }) => polled),
    );
    return [...found.keys()];
  };

  const silence = async (tx: Tx, { polled }: Host): Promise<number> => {
    const [row] = await tx.query<{ seconds: number }[]>(
      'SELECT extract(epoch FROM now() - seen_at)::float8 AS seconds FROM agents WHERE id = $1',
      [polled.agentId],
    );
    return row!.seconds;
  };

  it('are proven for agents of several organizations at once, each with its own state', async () => {
    const hosts = [await served(), await served()];
    const found = await polls.prove(
      database.autocommit,
      hosts.map(({ polled }) => polled),
    );
    for (const { polled, organization, visit } of hosts) {
      const expected = await states.preview(database.autocommit, organization, visit.targetKey);
      expect(found.get(polled.agentId)).toMatchObject({
        keySecondsLeft: null,
        state: { version: polled.version, proposed: expected.proposed, rules: expected.rules },
      });
    }
  });

  it('are recorded with the time of the request, which never goes back, and the use of the key', async () => {
    const host = await served();
    await sql(`UPDATE agents SET seen_at = now() - interval '30 seconds' WHERE id = $1`, host.polled.agentId);
    // in a transaction, in which time stands still
    await database.transaction(async (tx) => {
      for (const heardAgoMs of [10_000, 25_000]) {
        await polls.prove(tx, [{ ...host.polled, heardAgoMs }]);
        expect(await silence(tx, host)).toBeCloseTo(10);
      }
    });
    const [key] = await database.autocommit.query<{ at: Date; ip: string }[]>(
      'SELECT last_used_at AS at, last_used_ip AS ip FROM api_keys WHERE id = $1',
      [host.keyId],
    );
    expect(key).toMatchObject({ at: expect.any(Date) as Date, ip: '192.0.2.1' });
  });

  it('tell how long the key is valid', async () => {
    const host = await served();
    await sql(`UPDATE api_keys SET expires_at = now() + interval '1 hour' WHERE id = $1`, host.keyId);
    const { keySecondsLeft } = (await polls.prove(database.autocommit, [host.polled])).get(
      host.polled.agentId,
    )!;
    expect(keySecondsLeft).toBeGreaterThan(3500);
  });

  const CHANGES: [what: string, statement: string, of: (host: Host) => string][] = [
    ['it was away', `UPDATE agents SET seen_at = now() - interval '61 seconds' WHERE id = $1`, agentOf],
    ['another installation serves', `UPDATE agents SET instance = 'other' WHERE id = $1`, agentOf],
    ['the name has no key', 'UPDATE agents SET key_id = NULL WHERE id = $1', agentOf],
    [
      'another version was served',
      `UPDATE agents SET served_version = '9-' || served_version WHERE id = $1`,
      agentOf,
    ],
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

  it.each(CHANGES)(
    'are neither proven nor recorded wrongly when %s, and the others are',
    async (...change) => {
      const [, statement, of] = change;
      const [host, other] = [await served(), await served()];
      await sql(statement, of(host));
      expect(await proven(host, other)).toEqual([other.polled.agentId]);
    },
  );

  const NOTIFIED: typeof CHANGES = [
    ...CHANGES.filter(([, statement]) => !/seen_at|served_version/.test(statement)),
    [
      'its organization is suspended',
      'UPDATE organizations SET suspended_at = now() WHERE id = $1',
      organizationOf,
    ],
    ['its key is deleted', 'DELETE FROM api_keys WHERE id = $1', keyOf],
    ['it is deleted', 'DELETE FROM agents WHERE id = $1', agentOf],
  ];

  it.each(NOTIFIED)('are notified when %s', async (...change) => {
    const [, statement, of] = change;
    const host = await served();
    const told: string[] = [];
    const listener = { notified: (key: string) => void told.push(key), gap: () => undefined };
    const feed = new NotificationFeed(url, 'agent_states', listener, () => undefined);
    feed.start();
    await until('it listens', async () => feed.isListening);
    await sql(statement, of(host));
    expect(await until('it is told', async () => told.includes(host.visit.targetKey), 10_000)).toBe(true);
    await feed.close();
  });

  it('wait for no lock, and delay nobody who holds one', async () => {
    const [locked, other] = [await served(), await served()];
    await database.transaction(async (tx: Tx) => {
      await tx.query('SELECT 1 FROM agents WHERE id = $1 FOR UPDATE', [locked.polled.agentId]);
      await tx.query('SELECT 1 FROM api_keys WHERE id = $1 FOR UPDATE', [other.keyId]);
      expect(await proven(locked, other)).toEqual([other.polled.agentId]);
    });
  });

  it('do not notify: an idle agent stays idle', async () => {
    const host = await served();
    const told: string[] = [];
    const listener = { notified: (key: string) => void told.push(key), gap: () => undefined };
    const feed = new NotificationFeed(url, 'agent_states', listener, () => undefined);
    feed.start();
    await until('it listens', async () => feed.isListening);
    await proven(host);
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

function agentOf({ polled }: Host): string {
  return polled.agentId;
}
function keyOf({ keyId }: Host): string {
  return keyId;
}
function organizationOf({ organization }: Host): string {
  return organization;
}
