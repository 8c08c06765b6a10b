import { execFile } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import { ActionBench, JOB_ADDRESS } from '../builders/programs/action-bench';
import { SERVICES, verifiedService, type ServiceType } from '../builders/resources/services';
import { node24 } from '../harness/machines/node-24';
import { ActionJob } from '../harness/product/action-job';

interface Step {
  readonly uses?: string;
  readonly with?: Readonly<Record<string, string | number>>;
  readonly run?: string;
}

const node = node24();
const PAGE = resolve(__dirname, '../../docs/ci.md');
/** The resources that the recipes name. */
const RESOURCES: Readonly<Record<string, ServiceType>> = {
  registry: 'CONTAINER_REGISTRY',
  'orders-sql': 'SQL_SERVER',
  'production-cluster': 'EKS_CLUSTER',
  'orders-atlas': 'PROJECT',
};
/** What a job's machine has, and this one need not have. */
const PROGRAMS = ['az', 'docker', 'sqlcmd', 'kubectl', 'terraform', 'mongosh', 'migrate-mongo'];

/** The steps of the section, by the resource that they name. */
function recipes(): Map<string, readonly Step[]> {
  const [, section = ''] = readFileSync(PAGE, 'utf8').split('### Services that act late');
  const blocks = section.split(/^## /m)[0]!.matchAll(/^```yaml\n([^]*?)^```$/gm);
  const steps = [...blocks].map(([, yaml]) => parse(yaml!) as readonly Step[]);
  return new Map(steps.map((recipe) => [String(recipe[0]!.with!['resources']), recipe]));
}

(node ? describe : describe.skip)('The recipes for services that act late', () => {
  const bench = ActionBench.own(node, []);
  let folder: string;
  let server: Server;

  beforeAll(async () => {
    for (const [name, resourceType] of Object.entries(RESOURCES)) {
      const id = await verifiedService(bench.org, resourceType);
      await bench.org.admin.patched(`/resources/${id}`, { name });
    }
    server = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
    folder = mkdtempSync(join(tmpdir(), 'drawbridge-programs-'));
    for (const program of PROGRAMS) {
      const path = join(folder, program);
      // it works while the job's address is let in
      writeFileSync(
        path,
        `#!/bin/sh\necho "${program} $*" >> "${folder}/run"\ncurl -fsS ${bench.drawbridge.cloud.url}/_rules | grep -q '"${JOB_ADDRESS}"'\n`,
      );
      chmodSync(path, 0o755);
    }
  });
  afterAll(() => {
    server.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('are one for each of these resources', () => {
    expect([...recipes().keys()]).toEqual(Object.keys(RESOURCES));
  });

  it.each(Object.keys(RESOURCES))('can be followed literally for %s', async (name) => {
    const [start, work] = recipes().get(name) as [Step, Step];
    expect(start.uses).toContain('/apps/action@');
    const inputs = Object.entries(start.with!).map(([input, value]) => [input, String(value)] as const);
    const PATH = `${folder}:${process.env['PATH']}`;
    const job = new ActionJob(
      node!,
      {
        ...Object.fromEntries(inputs),
        url: bench.proxy.url,
        trust: bench.trust.audience,
        ...(start.with!['probe'] !== undefined && {
          probe: `127.0.0.1:${(server.address() as AddressInfo).port}`,
        }),
      },
      { variables: { ...bench.endpoint.variables, PATH } },
    );
    try {
      const [provider, target] = SERVICES[RESOURCES[name]!];
      const allowed = async (): Promise<string[]> =>
        (await bench.drawbridge.cloud.rules(target, provider)).map(({ address }) => address);
      expect(await job.main()).toMatchObject({ code: 0 });
      expect(await allowed()).toEqual([JOB_ADDRESS]);
      const script = work.run!.replaceAll(/\$\{\{ github\.sha \}\}/g, 'abc');
      await promisify(execFile)('bash', ['-e', '-c', script], { env: { PATH } });
      const commands = readFileSync(join(folder, 'run'), 'utf8');
      expect(commands).toContain(script.trim());
      const ready = String(start.with!['ready'] ?? script.trim());
      expect(commands).toContain(ready.split(' "')[0]);
      expect(await job.post()).toMatchObject({ code: 0 });
      expect(await allowed()).toEqual([]);
    } finally {
      job.remove();
    }
  });
});
