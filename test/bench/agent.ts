import { guardedHost, type GuardedHost } from '../builders/agents';
import { organization, type Organization } from '../builders/organization';
import { seedHolders } from '../builders/seeded-holders';
import { AgentProcess } from '../harness/agent-process';
import { Drawbridge } from '../harness/drawbridge';
import { hasNetworks, HOST, Network, VISITOR } from '../harness/network';
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
  let process: AgentProcess | null = null;
  try {
    const org = await organization(drawbridge, []);
    const port = await network.host.listen();
    const host = await guardedHost(org, 'bench-host', { port });
    const site = { org, network, host, endpoint: { address: HOST.ipv4, port } };
    const server = await network.reachable(() => drawbridge.apiServer.port);
    process = AgentProcess.start(network, { server, name: host.name, key: host.plainKey });
    await until('the port is guarded', async () => !(await network.visitor.reaches(site.endpoint)));
    await org.admin.expect(200, host.verify());
    const few = await openAndClose(site, ROUNDS);
    await seedHolders(org, host, { port, count: MANY_RULES });
    const loaded = await applyAll(site);
    const full = await openAndClose(site, ROUNDS_WHEN_FULL);
    return [
      figure('Host: POST to open, p50', 'ms', few.opened),
      figure('Host: POST to open, p99', 'ms', few.opened, null, 0.99),
      figure('Host: stop to closed, p50', 'ms', few.closed),
      figure('Host: stop to closed, p99', 'ms', few.closed, null, 0.99),
      figure(`Host: ${MANY_RULES} rules, sent to applied`, 'ms', [loaded]),
      figure(`Host with ${MANY_RULES} rules: POST to open, p50`, 'ms', full.opened),
      figure(`Host with ${MANY_RULES} rules: stop to closed, p50`, 'ms', full.closed),
    ];
  } finally {
    await process?.stop('SIGKILL');
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
    await org.admin.expect(200, org.admin.post(`/sessions/${id}/stop`));
    times.closed.push(at(await closing) - ended);
    await org.reaches(id, 'CANCELLED');
  }
  return times;
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
