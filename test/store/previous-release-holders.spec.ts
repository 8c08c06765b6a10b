import { Client } from 'pg';
import { cloneDatabase, type ClonedDatabase } from '../harness/database';

describe('A holder written by the previous release, which does not know its columns', () => {
  let database: ClonedDatabase;
  let ips: string[];

  beforeEach(async () => {
    database = await cloneDatabase();
    ips = await withClient({}, async (client) => {
      const { rows } = await client.query<{ id: string }>(
        `WITH o AS (INSERT INTO organizations (name, slug) VALUES ('Example', 'example') RETURNING id),
         u AS (INSERT INTO users (organization_id, email, name) SELECT id, 'a@example.com', 'A' FROM o RETURNING id, organization_id),
         t AS (INSERT INTO targets (provider, key, resource_type, identifier)
           VALUES ('AWS', 'k', 'SECURITY_GROUP', 'sg-1') RETURNING id),
         s AS (INSERT INTO sessions (organization_id, user_id, ipv4_address, expires_at)
           SELECT organization_id, id, '203.0.113.7', now() + interval '1 hour' FROM u RETURNING id, organization_id),
         r AS (INSERT INTO rules (target_id, key, address, protocol, ports)
           SELECT id, 'k', '203.0.113.7/32', 'tcp', '22' FROM t RETURNING id),
         ip AS (INSERT INTO resource_ips (organization_id, session_id, resource_id, ip_version, ip_address, status)
           SELECT organization_id, id, gen_random_uuid(), 4, '203.0.113.7', 'APPLIED' FROM s, generate_series(1, 2)
           RETURNING id),
         held AS (INSERT INTO rule_holders (rule_id, resource_ip_id) SELECT r.id, ip.id FROM r, ip)
         SELECT id FROM ip`,
      );
      return rows.map(({ id }) => id);
    });
  });
  afterEach(() => database.drop());

  async function withClient<T>(
    options: { options?: string },
    work: (client: Client) => Promise<T>,
  ): Promise<T> {
    const client = new Client({ connectionString: database.url, ...options });
    await client.connect();
    try {
      return await work(client);
    } finally {
      await client.end();
    }
  }

  const holders = async (client: Client): Promise<object[]> => {
    const { rows } = await client.query<object>(
      `SELECT resource_ip_id AS ip, released_at IS NOT NULL AS "isReleased", release_cause AS cause
       FROM rule_holders ORDER BY resource_ip_id = $1 DESC`,
      [ips[0]],
    );
    return rows;
  };

  const kept = (index: number): object => ({ ip: ips[index], isReleased: false, cause: null });

  it('is released when its ResourceIp is REMOVING', () =>
    withClient({}, async (client) => {
      await client.query(`UPDATE resource_ips SET status = 'REMOVING', released_at = now() WHERE id = $1`, [
        ips[0],
      ]);
      expect(await holders(client)).toEqual([{ ip: ips[0], isReleased: true, cause: 'UNRECORDED' }, kept(1)]);
    }));

  it.each(['REMOVED', 'FAILED'])('is deleted when its ResourceIp is %s', (status) =>
    withClient({}, async (client) => {
      await client.query('UPDATE resource_ips SET status = $2 WHERE id = $1', [ips[0], status]);
      expect(await holders(client)).toEqual([kept(1)]);
    }),
  );

  it.each(['REMOVING', 'REMOVED', 'FAILED'])(
    'is left alone when this release sets its ResourceIp to %s',
    (status) =>
      withClient({ options: '-c drawbridge.live_state=on' }, async (client) => {
        await client.query('UPDATE resource_ips SET status = $2 WHERE id = $1', [ips[0], status]);
        expect(await holders(client)).toEqual([kept(0), kept(1)]);
      }),
  );
});
