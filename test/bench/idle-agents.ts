import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { agentKey, hostResource, TestAgent } from '../builders/resources/agents';
import { organization, type Organization } from '../builders/accounts/organization';
import { ApiClient } from '../harness/product/api-client';
import { Drawbridge } from '../harness/product/drawbridge';
import { until } from '../harness/until';
import type { BenchPostgres } from './bench-postgres';
import { figure, type Figure } from './figure';
import { statementsDuring } from './statement-log';

const AGENTS = 1000;
/** before memory is measured: code is compiled, and the heap has grown to the size that as many requests need */
const WARM_UP_AGENTS = 50;
const WARM_UP_TURNS = 40;
const AT_ONCE = 20;
/** most resources of one static IP rule */
const RESOURCES_PER_RULE = 100;
/** as the agent's own */
const WAIT_SECONDS = 25;
/** after the last change: every agent has waited twice */
const SETTLE_MS = 60_000;
const SETTLED_WITHIN_MS = 300_000;
const OBSERVED_MS = 90_000;
const MAX_STATEMENTS = 250;
const MAX_KB = 70;
const COLLECT_ON_SIGNAL = join(__dirname, 'collect-on-signal.cjs');
const COLLECTED_WITHIN_MS = 3000;
/** as the agent's own, while the server does not answer */
const MAX_RETRY_DELAY_MS = 5000;
/** as `VERIFY_INTERVAL_MINUTES` of the worker */
const VERIFY_INTERVAL_SECONDS = 1800;

interface Polls {
  answered: number;
  readonly failures: unknown[];
  areOver: boolean;
}

/**
 * 1,000 agents of verified hosts with a static rule each, which wait for changes that do not come: statements of the
 * whole product, and memory of the API that they wait at.
 */
export async function idleAgents(postgres: BenchPostgres): Promise<Figure[]> {
  const drawbridge = await Drawbridge.start();
  try {
    const keys = await servedHosts(drawbridge);
    const api = await drawbridge.startApi({ NODE_OPTIONS: `--require ${COLLECT_ON_SIGNAL}` }, 'nobody');
    const client = new ApiClient(`http://127.0.0.1:${api.port}/api/v1`);
    const agents = keys.map(([name, apiKey]) => new TestAgent(client.as({ apiKey }), name));
    await inTurn(agents.slice(0, WARM_UP_AGENTS), async (agent) => {
      for (let turns = 0; turns < WARM_UP_TURNS; turns += 1) await agent.turn();
      await agent.fetched(1);
    });
    const before = await residentKb(api.pid);
    const polls: Polls = { answered: 0, failures: [], areOver: false };
    const waiting = agents.map((agent) => waitOn(agent, polls));
    await settled(drawbridge);
    await pause(SETTLE_MS);
    const answeredBefore = polls.answered;
    const failedBefore = polls.failures.length;
    const sent = await statementsDuring(postgres, drawbridge, () => pause(OBSERVED_MS));
    const answered = polls.answered - answeredBefore;
    const each = ((await residentKb(api.pid)) - before) / AGENTS;
    const failures = polls.failures.slice(failedBefore);
    polls.areOver = true;
    await api.stop('SIGKILL');
    await Promise.all(waiting);
    if (failures.length > 0) throw new Error(`${failures.length} polls failed: ${String(failures[0])}`);
    const perSecond = (program: string): number =>
      sent.filter(({ application }) => application.startsWith(program)).length / (OBSERVED_MS / 1000);
    return [
      figure('1,000 idle agents: answers', '/s', [answered / (OBSERVED_MS / 1000)]),
      figure('1,000 idle agents: statements', '/s', [perSecond('drawbridge')], { atMost: MAX_STATEMENTS }),
      figure('1,000 idle agents: statements of the API', '/s', [perSecond('drawbridge-api')]),
      figure('1,000 idle agents: memory of the API for each', 'kB', [each], { atMost: MAX_KB }),
    ];
  } finally {
    await drawbridge.stop();
  }
}

/** Registers the hosts of one organization. @returns names with their API keys */
async function servedHosts(drawbridge: Drawbridge): Promise<(readonly [name: string, apiKey: string])[]> {
  const org = await organization(drawbridge, []);
  const { admin } = org;
  const credential = { name: 'hosts', provider: 'AGENT', credentialType: 'AGENT' };
  const { id: credentialId } = await admin.expect(
    201,
    admin.post<{ id: string }>('/credentials', credential),
  );
  const names = Array.from({ length: AGENTS }, (_, index) => `host-${index}`);
  const agents: TestAgent[] = [];
  const resourceIds: string[] = [];
  await inTurn(names, async (name) => {
    const resourceId = await hostResource(org, credentialId, name, { port: 22 });
    const agent = new TestAgent(await agentKey(org, [name]), name);
    await agent.turn();
    await admin.expect(200, admin.post(`/resources/${resourceId}/verify`));
    agents.push(agent);
    resourceIds.push(resourceId);
  });
  await staticRules(org, resourceIds);
  await inTurn(agents, async (agent) => {
    const { rules } = await agent.turn();
    if (rules.length !== 1) throw new Error(`${agent.name} has ${rules.length} rules, not one`);
  });
  // as they are spread after some hours
  await drawbridge.query(
    `UPDATE resources SET verify_due_at = now() + random() * make_interval(secs => $1) WHERE provider = 'AGENT'`,
    [VERIFY_INTERVAL_SECONDS],
  );
  return agents.map(({ name, client: { identity } }) => {
    if (!identity || !('apiKey' in identity)) throw new Error('An agent has an API key');
    return [name, identity.apiKey];
  });
}

/** Returns once all rules are present, nothing is due, and each host was compared since. */
async function settled(drawbridge: Drawbridge): Promise<void> {
  await drawbridge.query(
    `UPDATE targets SET reconcile_due_at = now() + make_interval(secs => random() * $1) WHERE provider = 'AGENT'`,
    [WAIT_SECONDS],
  );
  const isSettled = async (): Promise<boolean> => {
    const [open] = await drawbridge.query<{ hosts: number }>(
      `SELECT count(*)::int AS hosts FROM targets t WHERE provider = 'AGENT' AND (t.reconcile_due_at <= now()
         OR EXISTS (SELECT FROM rules r WHERE r.target_id = t.id AND (r.state <> 'present' OR r.due_at IS NOT NULL))
         OR NOT EXISTS (SELECT FROM resources r JOIN resource_health_events e ON e.resource_id = r.id
           WHERE r.target_id = t.id AND e.event_type = 'RECONCILE_OK'))`,
    );
    return open!.hosts === 0;
  };
  await pause(2 * WAIT_SECONDS * 1000);
  await until('all hosts are settled', isSettled, SETTLED_WITHIN_MS);
}

async function staticRules({ admin }: Organization, resourceIds: readonly string[]): Promise<void> {
  for (let from = 0; from < resourceIds.length; from += RESOURCES_PER_RULE) {
    const some = resourceIds.slice(from, from + RESOURCES_PER_RULE);
    const rule = { label: `office ${from}`, ipAddress: '198.51.100.0/24', resourceIds: some };
    await admin.expect(201, admin.post('/static-ip-rules', rule));
  }
}

async function inTurn<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  const left = [...items];
  const lane = async (): Promise<void> => {
    for (let item = left.pop(); item !== undefined; item = left.pop()) await work(item);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
}

/** Takes a turn, then waits again and again. Agents do not begin together, and try again after a failure. */
async function waitOn(agent: TestAgent, polls: Polls): Promise<void> {
  await pause(Math.random() * WAIT_SECONDS * 1000);
  let isServed = false;
  while (!polls.areOver) {
    try {
      if (!isServed) await agent.turn();
      const { rules } = await agent.fetched(WAIT_SECONDS);
      polls.answered += 1;
      isServed = rules.every(({ unconfirmed }) => !unconfirmed);
    } catch (error) {
      if (polls.areOver) return;
      polls.failures.push(error);
      isServed = false;
      await pause(Math.random() * MAX_RETRY_DELAY_MS);
    }
  }
}

/** Resident memory of a program, in kB, after it has collected its garbage. */
async function residentKb(pid: number): Promise<number> {
  process.kill(pid, 'SIGUSR2');
  await pause(COLLECTED_WITHIN_MS);
  return Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' }));
}
