import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { guardedHost, verifiedByAgent, type GuardedHost } from '../builders/resources/agents';
import { organization, type Organization } from '../builders/accounts/organization';
import { seedHolders } from '../builders/sessions/seeded-holders';
import { AgentProcess } from '../harness/product/agent-process';
import { Drawbridge } from '../harness/product/drawbridge';
import { hasNetworks, HOST, Network, VISITOR } from '../harness/network/network';
import { until } from '../harness/until';
import { figure, type Figure } from './figure';

const ROUNDS = 100;
const ROUNDS_WHEN_FULL = 10;
const MANY_RULES = 20_000;

interface Site {
  readonly org: Organization;
  readonly network: Network;
  readonly host: GuardedHost;
  readonly endpoint: { readonly address: string; readonly port: number };
}

interface Times {
  readonly opened: number[];
  readonly closed: number[];
}

/** From POST /sessions to an open port, and from a stop to a closed one, as the visitor sees it. */
export async function agent(): Promise<Figure[]> {
  if (!hasNetworks) throw new Error('No network namespaces or no nft here');
  const [drawbridge, network] = await Promise.all([Drawbridge.start(), Network.start()]);
  let served: AgentProcess | null = null;
  try {
    const org = await organization(drawbridge, []);
    const port = await network.host.listen();
    const host = await guardedHost(org, 'bench-host', { port });
    const site = { org, network, host, endpoint: { address: HOST.ipv4, port } };
    const server = await network.reachable(() => drawbridge.apiServer.port);
    served = AgentProcess.start(network, { server, name: host.name, key: host.plainKey });
    await verifiedByAgent(org, host.resourceId);
    await until('the port is guarded', async () => !(await network.visitor.reaches(site.endpoint)));
    const idle = await idleCost(served.pid);
    const few = await openAndClose(site, ROUNDS);
    await seedHolders(org, host, { port, count: MANY_RULES });
    const loaded = await applyAll(site);
    const full = await openAndClose(site, ROUNDS_WHEN_FULL);
    return [
      figure('Host: idle agent, memory with nft monitor', 'MB', [idle.megabytes], { atMost: 40 }),
      figure('Host: the runtime alone', 'MB', [await runtimeMegabytes()]),
      figure('Host: idle agent, CPU', '%', [idle.cpuPercent], { atMost: 0.2 }),
      figure('Host: POST to open, p50', 'ms', few.opened),
      figure('Host: POST to open, p99', 'ms', few.opened, null, 0.99),
      figure('Host: stop to closed, p50', 'ms', few.closed),
      figure('Host: stop to closed, p99', 'ms', few.closed, null, 0.99),
      figure(`Host: ${MANY_RULES} rules, sent to applied`, 'ms', [loaded]),
      figure(`Host with ${MANY_RULES} rules: POST to open, p50`, 'ms', full.opened),
      figure(`Host with ${MANY_RULES} rules: stop to closed, p50`, 'ms', full.closed),
    ];
  } finally {
    await served?.stop('SIGKILL');
    network.stop();
    await drawbridge.stop();
  }
}

async function openAndClose({ org, network, host, endpoint }: Site, rounds: number): Promise<Times> {
  const times: Times = { opened: [], closed: [] };
  for (let round = 0; round < rounds; round += 1) {
    const opening = network.visitor.opens(endpoint);
    const began = now();
    const { id } = await org.started({ ipv4Address: VISITOR.ipv4, resourceIds: [host.resourceId] });
    times.opened.push(at(await opening) - began);
    await org.reaches(id, 'ACTIVE');
    const closing = network.visitor.closes(endpoint);
    const ended = now();
    await org.admin.posted(`/sessions/${id}/stop`);
    times.closed.push(at(await closing) - ended);
    await org.reaches(id, 'CANCELLED');
  }
  return times;
}

const IDLE_SECONDS = 60;
const TICKS_PER_SECOND = 100;

/** What an agent costs that has nothing to do, with the programs it has started. */
async function idleCost(pid: number): Promise<{ megabytes: number; cpuPercent: number }> {
  await pause(5000);
  const before = cpuSeconds(pid);
  await pause(IDLE_SECONDS * 1000);
  return {
    megabytes: processTree(pid).reduce((sum, one) => sum + residentMegabytes(one), 0),
    cpuPercent: ((cpuSeconds(pid) - before) / IDLE_SECONDS) * 100,
  };
}

const processTree = (pid: number): number[] => [
  pid,
  ...readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number),
];

/** Of the process, with its children: also those that have ended. */
const cpuSeconds = (pid: number): number =>
  processTree(pid)
    .map((one) =>
      readFileSync(`/proc/${one}/stat`, 'utf8')
        .replace(/^.*\) /, '')
        .split(' '),
    )
    .flatMap((fields, index) => (index === 0 ? fields.slice(11, 15) : fields.slice(11, 13)))
    .reduce((sum, ticks) => sum + Number(ticks) / TICKS_PER_SECOND, 0);

const residentMegabytes = (pid: number): number =>
  Number(/^Rss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))![1]) / 1024;

/** Node.js with a timer, and nothing else. */
async function runtimeMegabytes(): Promise<number> {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1e9)'], { stdio: 'ignore' });
  try {
    await pause(2000);
    return residentMegabytes(child.pid!);
  } finally {
    child.kill();
  }
}

/** From the commit of many rules at once until all are applied. */
async function applyAll({ network }: Site): Promise<number> {
  const began = now();
  await until(
    'all rules are applied',
    () =>
      Promise.resolve(
        (network.nft('list', 'set', 'inet', 'drawbridge', 'host4_port').match(/100\./g) ?? []).length >=
          MANY_RULES,
      ),
    60_000,
  );
  return now() - began;
}

const now = (): number => performance.timeOrigin + performance.now();

function at(moment: number | null): number {
  if (moment === null) throw new Error('The port did not change within 20 seconds');
  return moment;
}
