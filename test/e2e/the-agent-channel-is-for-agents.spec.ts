import { agentKey, guardedHost, TestAgent, type AgentState } from '../builders/resources/agents';
import { organization, ownOrganization } from '../builders/accounts/organization';
import { paid } from '../builders/accounts/people';
import type { Answer, ApiClient } from '../harness/product/api-client';
import { Drawbridge } from '../harness/product/drawbridge';
import { until } from '../harness/until';

const drawbridge = Drawbridge.shared();
const org = ownOrganization(drawbridge, []);
let key: ApiClient;

beforeAll(async () => {
  await guardedHost(org, 'db-host-1');
  key = await agentKey(org, ['db-host-1', 'db-host-dry']);
});

const asking = (
  client: ApiClient,
  query = 'agent=db-host-1',
): Promise<Answer<AgentState & { message: string }>> => client.get(`/agents/state?${query}`);

describe('The agent channel is for agents', () => {
  it('accepts a key with agent:connect, on the Free plan too', async () => {
    expect((await asking(key)).status).toBe(200);
    const free = await organization(drawbridge, []);
    await paid(drawbridge, free.organizationId, 'FREE');
    const host = await guardedHost(free, 'db-host-1');
    expect((await host.agent().ask()).status).toBe(200);
  });

  it('the rules of a suspended organization are kept and closed as usual', async () => {
    const own = await organization(drawbridge, []);
    const host = await guardedHost(own, 'db-host-1');
    const agent = host.agent();
    await agent.turn();
    await host.verify();
    const { id } = await own.started({ ipv4Address: '203.0.113.1' });
    await agent.turn();
    await own.reaches(id, 'ACTIVE');
    await own.suspend();
    expect((await agent.fetched()).rules).toHaveLength(1);
    await own.admin.posted(`/sessions/${id}/stop`);
    await agent.turn();
    await own.reaches(id, 'CANCELLED');
  });

  it.each([
    ['no name', ''],
    ['a name that no host has', 'agent=-x'],
    ['two names', 'agent=a&agent=b'],
    ['a wait that is too long', 'agent=a&waitSeconds=31'],
    ['a wait below none', 'agent=a&waitSeconds=-1'],
    ['half a second', 'agent=a&waitSeconds=0.5'],
    ['a version without end', `agent=a&version=${'x'.repeat(65)}`],
    ['an instance with blanks', 'agent=a&instance=two%20words'],
  ])('%s: 400', async (_, query) => {
    expect((await asking(key, query)).status).toBe(400);
  });

  it.each([
    ['no results', { results: undefined }],
    ['a result of no rule', { results: [{ ruleId: 'x', status: 'APPLIED' }] }],
    ['an unknown status', { results: [{ ruleId: '00000000-0000-4000-8000-000000000000', status: 'GONE' }] }],
    ['results that are no objects', { results: [null] }],
    ['more than a thousand', { results: Array.from({ length: 1001 }, () => ({})) }],
    ['no version', { version: undefined }],
    ['cleared in words', { cleared: 'yes' }],
  ])('a report with %s: 400', async (_, change) => {
    const report = { agent: 'db-host-1', version: 'x', results: [], ...change };
    expect((await key.post('/agents/report', report)).status).toBe(400);
  });

  it('a report can contain a thousand results', async () => {
    const results = Array.from({ length: 1000 }, (_, index) => ({
      ruleId: `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`,
      status: 'REMOVED',
    }));
    expect((await key.post('/agents/report', { agent: 'db-host-1', version: 'x', results })).status).toBe(
      200,
    );
  });

  it('a dry run registers no agent: the resource cannot be verified and the name stays free', async () => {
    const host = await guardedHost(org, 'db-host-dry');
    const dryRun = (): Promise<Answer<AgentState>> => key.get('/agents/state?agent=db-host-dry&dryRun=true');
    expect(await dryRun()).toMatchObject({
      status: 200,
      body: { guarded: [], proposed: [{ protocol: 'tcp', ports: [22] }], rules: [] },
    });
    expect((await host.verify()).status).toBe(404);
    const agent = host.agent('one');
    await agent.fetched();
    await host.verify();
    const { id } = await org.started({ resourceIds: [host.resourceId], ipv4Address: '203.0.113.40' });
    const { rules } = (await dryRun()).body;
    expect(rules).toMatchObject([{ ipAddress: '203.0.113.40', unconfirmed: true }]);
    await org.admin.posted(`/sessions/${id}/stop`);
    // no agent that could have opened it received it
    await org.reaches(id, 'CANCELLED');
    expect((await dryRun()).body.rules).toEqual([]);
  });

  it('hundreds of waiting agents hold no database connection and do not delay others', async () => {
    const many = 300;
    const names = Array.from({ length: many }, (_, index) => `crowd-${index}`);
    const { resourceId } = await guardedHost(org, 'crowd');
    await drawbridge.query(
      `WITH host AS (
         INSERT INTO targets (provider, key, resource_type, identifier)
         SELECT 'AGENT', 'AGENT:host:' || $1 || ':' || name, 'HOST_FIREWALL', name FROM unnest($3::text[]) name
         RETURNING id, identifier
       )
       INSERT INTO resources SELECT (jsonb_populate_record(r, jsonb_build_object('id', gen_random_uuid(), 'name',
         host.identifier, 'resource_identifier', host.identifier, 'target_id', host.id, 'config', '{"port": 80}'::jsonb))).*
       FROM resources r, host WHERE r.id = $2`,
      [org.organizationId, resourceId, names],
    );
    const keys = [0, 100, 200].map((from) => agentKey(org, names.slice(from, from + 100)));
    const clients = await Promise.all(keys);
    const agents = names.map((name, index) => new TestAgent(clients[Math.floor(index / 100)]!, name));
    for (const agent of agents) await agent.fetched();
    const [fetched] = await drawbridge.query<{ at: string }>('SELECT clock_timestamp()::text AS at');
    const goodbye = new AbortController();
    const waits = agents.map((agent) =>
      agent.ask({ version: agent.state!.version, waitSeconds: 30 }, goodbye.signal).catch(() => null),
    );
    const busy = async (): Promise<number> => {
      const [row] = await drawbridge.query<{ busy: number }>(
        `SELECT count(*)::int AS busy FROM pg_stat_activity
         WHERE datname = current_database() AND application_name = 'drawbridge-api' AND state <> 'idle'`,
      );
      return row!.busy;
    };
    await until('all of them wait', async () => {
      const again = `SELECT 1 FROM agents WHERE name LIKE 'crowd-%' AND seen_at > $1`;
      return (await drawbridge.query(again, [fetched!.at])).length === many && (await busy()) === 0;
    });
    const [connections] = await drawbridge.query<{ api: number; listening: number }>(
      `SELECT count(*) FILTER (WHERE application_name = 'drawbridge-api')::int AS api,
         count(*) FILTER (WHERE application_name = 'drawbridge-agents')::int AS listening
       FROM pg_stat_activity WHERE datname = current_database()`,
    );
    // its two pools
    expect(connections!.api).toBeLessThanOrEqual(20 + 5);
    expect(connections!.listening).toBe(1);
    expect((await org.admin.get('/sessions?size=1')).status).toBe(200);

    const host = await guardedHost(org, 'crowd-7');
    expect((await waits[7])!.body.proposed).toEqual([{ protocol: 'tcp', ports: [22, 80] }]);
    expect((await host.verify()).status).toBe(200);
    goodbye.abort();
    await Promise.all(waits);
  });
});
