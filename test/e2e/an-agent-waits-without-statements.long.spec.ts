import { setTimeout as pause } from 'node:timers/promises';
import {
  agentKey,
  asked,
  early,
  guardedHost,
  TestAgent,
  WAIT_SECONDS,
  type AgentState,
  type Asked,
} from '../builders/resources/agents';
import { organization, ownOrganization, type Organization } from '../builders/accounts/organization';
import { ApiClient, type Answer } from '../harness/product/api-client';
import { Drawbridge } from '../harness/product/drawbridge';
import { until } from '../harness/until';

const drawbridge = Drawbridge.own();
/** at another process than the one that agents wait at */
const org = ownOrganization(drawbridge, []);
let elsewhere: ApiClient;
let hosts = 0;

beforeAll(async () => {
  const { port } = await drawbridge.startApi();
  elsewhere = new ApiClient(`http://127.0.0.1:${port}/api/v1`);
});

/** When the agent was heard of last. */
const heardAt = async (name: string): Promise<number> => {
  const [row] = await drawbridge.query<{ at: Date }>('SELECT seen_at AS at FROM agents WHERE name = $1', [
    name,
  ]);
  return row!.at.getTime();
};

interface Waiting extends Asked<Answer<AgentState & { message: string }>> {
  readonly name: string;
  readonly resourceId: string;
  readonly plainKey: string;
  readonly agent: TestAgent;
}

/** Makes the agent wait with the state it has. */
async function wait(agent: TestAgent): Promise<Pick<Waiting, keyof Asked<unknown>>> {
  const before = await heardAt(agent.name);
  const { version } = agent.state!;
  const sent = asked(() => agent.ask({ version, waitSeconds: WAIT_SECONDS }) as Waiting['answer']);
  // it may still wait when its test is over
  sent.answer.catch(() => undefined);
  await until('it is heard of', async () => (await heardAt(agent.name)) > before);
  return sent;
}

/** An agent that waits at the other process. */
async function waitingElsewhere(given: Organization = org): Promise<Waiting> {
  const host = await guardedHost(given, `host-${(hosts += 1)}`);
  const agent = new TestAgent(elsewhere.as({ apiKey: host.plainKey }), host.name, 'machine');
  await host.guardedBy(agent);
  await agent.fetched();
  const { name, plainKey, resourceId } = host;
  return { name, plainKey, resourceId, agent, ...(await wait(agent)) };
}

/** There is something new to send to the agent. */
const changed = ({ resourceId }: Waiting): Promise<unknown> =>
  drawbridge.query(`UPDATE resources SET config = '{"port": 23}' WHERE id = $1`, [resourceId]);

/** The status of the answer, which comes before the wait is over. */
const endsWith = async (waiting: Waiting): Promise<number> => (await early(waiting)).status;

const ITS_KEY = 'WHERE id = (SELECT key_id FROM agents WHERE name = $1)';

describe('An agent that waits', () => {
  it('costs no statement', async () => {
    const { name } = await waitingElsewhere();
    const last = async (): Promise<string> => {
      const [row] = await drawbridge.query<{ at: string }>(
        `SELECT max(query_start)::text AS at FROM pg_stat_activity
         WHERE datname = current_database() AND application_name = 'drawbridge-api'`,
      );
      return `${row!.at} ${await heardAt(name)}`;
    };
    const isQuiet = async (): Promise<boolean> => {
      const before = await last();
      await pause(2000);
      return (await last()) === before;
    };
    expect(await until('nothing is asked for two seconds', isQuiet)).toBe(true);
  });

  it.each([
    ['its key is revoked', `UPDATE api_keys SET revoked_at = now() ${ITS_KEY}`, 401],
    ['its key expires earlier than planned', `UPDATE api_keys SET expires_at = now() ${ITS_KEY}`, 401],
    ['its key is deleted', `DELETE FROM api_keys ${ITS_KEY}`, 401],
    ['its key is bound to another host', `UPDATE api_keys SET agents = '{other}' ${ITS_KEY}`, 403],
    ['its key loses the scope', `UPDATE api_keys SET scopes = '{sessions:read}' ${ITS_KEY}`, 403],
  ])('receives nothing any more once %s', async (_, statement, status) => {
    const own = await organization(drawbridge, []);
    const waiting = await waitingElsewhere(own);
    await drawbridge.query(statement, [waiting.name]);
    await changed(waiting);
    expect(await endsWith(waiting)).toBe(status);
  });

  it('is told of changes while its organization is suspended', async () => {
    const own = await organization(drawbridge, []);
    const waiting = await waitingElsewhere(own);
    await own.suspend();
    await changed(waiting);
    expect((await early(waiting)).body.guarded).toEqual([{ protocol: 'tcp', ports: [23] }]);
  });

  it('is answered at once when it waits again: the client of the earlier wait may be gone', async () => {
    const waiting = await waitingElsewhere();
    const again = await wait(waiting.agent);
    expect(await endsWith(waiting)).toBe(200);
    await changed(waiting);
    expect((await early(again)).body.guarded).toEqual([{ protocol: 'tcp', ports: [23] }]);
  });

  it('keeps its name: another installation is refused at every process, and the wait goes on', async () => {
    const waiting = await waitingElsewhere();
    for (const api of [drawbridge.api, elsewhere]) {
      const other = new TestAgent(api.as({ apiKey: waiting.plainKey }), waiting.name, 'copy');
      expect((await other.ask()).status).toBe(409);
      const { version } = waiting.agent.state!;
      expect((await other.ask({ version, waitSeconds: WAIT_SECONDS })).status).toBe(409);
    }
    await changed(waiting);
    expect((await early(waiting)).body.guarded).toEqual([{ protocol: 'tcp', ports: [23] }]);
  });

  it('is refused once another key has taken over its released name', async () => {
    const waiting = await waitingElsewhere();
    await org.admin.expect(200, org.admin.post(`/agents/${waiting.name}/release`));
    const successor = new TestAgent(await agentKey(org, [waiting.name]), waiting.name, 'machine');
    expect((await successor.ask()).status).toBe(200);
    await changed(waiting);
    expect(await endsWith(waiting)).toBe(409);
  });

  it('is heard of at the begin and the end of each wait, with times that pass on', async () => {
    const { agent, name, resourceId } = await waitingElsewhere();
    await org.started({ ipv4Address: '203.0.113.10', resourceIds: [resourceId] });
    await agent.turn();
    const first = await agent.turn(1);
    for (let polls = 0; polls < 2; polls += 1) {
      const before = await heardAt(name);
      const fetched = agent.fetched(5);
      const begun = await until('it is heard of', async () => {
        const at = await heardAt(name);
        return at > before && at;
      });
      await fetched;
      expect(await heardAt(name)).toBeGreaterThan(begun);
    }
    expect(Date.parse(agent.state!.serverTime)).toBeGreaterThan(Date.parse(first.serverTime));
    expect(agent.state!.rules[0]!.secondsLeft).toBeLessThan(first.rules[0]!.secondsLeft!);
  });
});
