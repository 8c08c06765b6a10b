import {
  agentKey,
  early,
  guardedHost,
  hostResource,
  TestAgent,
  WAIT_SECONDS,
  type AgentState,
} from '../builders/agents';
import { organization, type Organization } from '../builders/organization';
import { ApiClient, type Answer } from '../harness/api-client';
import { Drawbridge } from '../harness/drawbridge';
import { until } from '../harness/until';

let drawbridge: Drawbridge;
/** at another process than the one that agents wait at */
let org: Organization;
let elsewhere: ApiClient;
let hosts = 0;

beforeAll(async () => {
  drawbridge = await Drawbridge.start();
  org = await organization(drawbridge, []);
  const { port } = await drawbridge.startApi();
  elsewhere = new ApiClient(`http://127.0.0.1:${port}/api/v1`);
});
afterAll(() => drawbridge.stop());

/** Only a request that is served by itself writes the agent's software. */
const MARK = 'no request was served by itself';
const MAX_ATTEMPTS = 5;

const softwareOf = async (name: string): Promise<string | null> => {
  const [row] = await drawbridge.query<{ software: string | null }>(
    'SELECT software FROM agents WHERE name = $1',
    [name],
  );
  return row!.software;
};

const isRemembered = async (name: string): Promise<boolean> => (await softwareOf(name)) === MARK;

/** When the agent was heard of last, as everybody else sees it. */
const heardAt = async (name: string): Promise<Date> => {
  const [row] = await drawbridge.query<{ at: Date }>('SELECT seen_at AS at FROM agents WHERE name = $1', [
    name,
  ]);
  return row!.at;
};

interface Waiting {
  readonly name: string;
  readonly keyId: string;
  readonly resourceId: string;
  readonly credentialId: string;
  readonly plainKey: string;
  readonly agent: TestAgent;
  readonly answer: Promise<Answer<AgentState & { message: string }>>;
}

/** An agent that waits at the other process, which remembers it and has recorded that it was heard of. */
async function waitingElsewhere(given: Organization = org): Promise<Waiting> {
  const host = await guardedHost(given, `host-${(hosts += 1)}`);
  const agent = new TestAgent(elsewhere.as({ apiKey: host.plainKey }), host.name, 'machine');
  await host.guardedBy(agent);
  // notifications of the first requests arrive
  await agent.fetched(1);
  const { name, plainKey, resourceId, credentialId } = host;
  for (let attempt = 1; ; attempt += 1) {
    await agent.fetched();
    const [{ keyId, before }] = (await drawbridge.query<{ keyId: string; before: Date }>(
      `UPDATE agents SET software = $2, seen_at = now() - interval '20 seconds' WHERE name = $1
       RETURNING key_id AS "keyId", seen_at AS before`,
      [name, MARK],
    )) as [{ keyId: string; before: Date }];
    const { version } = agent.state!;
    const answer = agent.ask({ version, waitSeconds: WAIT_SECONDS }) as Waiting['answer'];
    // it may still wait when its test is over
    answer.catch(() => undefined);
    await until('it is heard of', async () => (await heardAt(name)) > before);
    // the last of those notifications may arrive as late as this, on a busy machine
    if (await isRemembered(name)) return { name, plainKey, resourceId, credentialId, keyId, agent, answer };
    if (attempt === MAX_ATTEMPTS) throw new Error(`${name} is never remembered`);
  }
}

/** The status of the answer, which comes at once. */
const endsWith = async ({ answer }: Waiting): Promise<number> => (await early(answer)).status;

describe('An agent that waits without statements of its own', () => {
  it('ends with 401 at once when its key is revoked', async () => {
    const waiting = await waitingElsewhere();
    await org.admin.expect(204, org.admin.delete(`/api-keys/${waiting.keyId}`));
    expect(await endsWith(waiting)).toBe(401);
    const { version } = waiting.agent.state!;
    expect((await waiting.agent.ask({ version, waitSeconds: WAIT_SECONDS })).status).toBe(401);
  });

  it.each([
    [
      'its user is deactivated',
      'UPDATE users SET is_active = false WHERE id = (SELECT user_id FROM api_keys WHERE id = $1)',
      401,
    ],
    ['its key expires earlier than planned', 'UPDATE api_keys SET expires_at = now() WHERE id = $1', 401],
    ['its key is deleted', 'DELETE FROM api_keys WHERE id = $1', 401],
    ['its key is bound to another host', `UPDATE api_keys SET agents = '{other}' WHERE id = $1`, 403],
    ['its key loses the scope', `UPDATE api_keys SET scopes = '{sessions:read}' WHERE id = $1`, 403],
  ])('is refused at once when %s', async (_, statement, status) => {
    const own = await organization(drawbridge, []);
    const waiting = await waitingElsewhere(own);
    await drawbridge.query(statement, [waiting.keyId]);
    expect(await endsWith(waiting)).toBe(status);
  });

  it('is served by itself at once when its organization is suspended and reactivated', async () => {
    const own = await organization(drawbridge, []);
    const waiting = await waitingElsewhere(own);
    for (const suspendedAt of ['now()', 'NULL']) {
      await drawbridge.query('UPDATE agents SET software = $2 WHERE name = $1', [waiting.name, MARK]);
      await drawbridge.query(`UPDATE organizations SET suspended_at = ${suspendedAt} WHERE id = $1`, [
        own.organizationId,
      ]);
      await until('it is served', async () => !(await isRemembered(waiting.name)), 500 * WAIT_SECONDS);
    }
    await drawbridge.query(`UPDATE resources SET config = '{"port": 23}' WHERE id = $1`, [
      waiting.resourceId,
    ]);
    expect((await waiting.answer).body.guarded).toEqual([{ protocol: 'tcp', ports: [23] }]);
  });

  it('is answered at once when its resource moves to another host', async () => {
    const waiting = await waitingElsewhere();
    const moved = { resourceIdentifier: `${waiting.name}-moved` };
    await org.admin.expect(200, org.admin.patch(`/resources/${waiting.resourceId}`, moved));
    expect((await early(waiting.answer)).body).toMatchObject({ guarded: [], proposed: [] });
  });

  it('is answered at once when a session starts', async () => {
    const waiting = await waitingElsewhere();
    const given = { ipv4Address: '203.0.113.9', resourceIds: [waiting.resourceId] };
    await org.started(given);
    expect(await endsWith(waiting)).toBe(200);
    expect((await waiting.answer).body.rules).toMatchObject([{ ipAddress: given.ipv4Address }]);
  });

  it('is answered at once when another resource names its host', async () => {
    const waiting = await waitingElsewhere();
    await hostResource(org, waiting.credentialId, waiting.name, { port: 80 });
    expect((await waiting.answer).body.proposed).toEqual([{ protocol: 'tcp', ports: [80] }]);
  });

  it('keeps its name: another installation is refused at every process, and the wait goes on', async () => {
    const waiting = await waitingElsewhere();
    for (const api of [drawbridge.api, elsewhere]) {
      const other = new TestAgent(api.as({ apiKey: waiting.plainKey }), waiting.name, 'copy');
      expect((await other.ask()).status).toBe(409);
      const { version } = waiting.agent.state!;
      expect((await other.ask({ version, waitSeconds: WAIT_SECONDS })).status).toBe(409);
    }
    expect(await isRemembered(waiting.name)).toBe(true);
  });

  it('is refused at once when another key takes over its released name', async () => {
    const waiting = await waitingElsewhere();
    await org.admin.expect(200, org.admin.post(`/agents/${waiting.name}/release`));
    const successor = new TestAgent(await agentKey(org, [waiting.name]), waiting.name, 'machine');
    expect((await successor.ask()).status).toBe(200);
    expect(await endsWith(waiting)).toBe(409);
  });

  it('that was away meanwhile connects again', async () => {
    const { name, agent } = await waitingElsewhere();
    const connected = async (): Promise<number> => {
      const records = await drawbridge.query(
        `SELECT 1 FROM audit_records WHERE event_type = 'AGENT_CONNECTED' AND resource_name = $1`,
        [name],
      );
      return records.length;
    };
    expect(await connected()).toBe(1);
    await drawbridge.query(`UPDATE agents SET seen_at = now() - interval '61 seconds' WHERE name = $1`, [
      name,
    ]);
    await until('it has connected', async () => {
      await agent.fetched(1);
      return (await connected()) === 2;
    });
  });

  it('is heard of again and again while nothing changes, with times that pass on', async () => {
    const waiting = await waitingElsewhere();
    const { agent, name } = waiting;
    const given = { ipv4Address: '203.0.113.10', resourceIds: [waiting.resourceId] };
    await org.started(given);
    await agent.turn();
    const first = await agent.turn(1);
    await agent.fetched(1);
    await drawbridge.query('UPDATE agents SET software = $2 WHERE name = $1', [name, MARK]);
    for (let polls = 0; polls < 5; polls += 1) {
      const before = await heardAt(name);
      await agent.fetched(3);
      await until('it is heard of again', async () => (await heardAt(name)) > before);
    }
    expect(await isRemembered(name)).toBe(true);
    const seconds = (Date.parse(agent.state!.serverTime) - Date.parse(first.serverTime)) / 1000;
    expect(seconds).toBeGreaterThan(15);
    // the rest is read a statement later than the time
    const passed = first.rules[0]!.secondsLeft! - agent.state!.rules[0]!.secondsLeft!;
    expect(Math.abs(passed - seconds)).toBeLessThan(seconds / 2);
  });
});
