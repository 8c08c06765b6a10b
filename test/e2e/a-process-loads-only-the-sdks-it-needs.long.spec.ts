import { resolve } from 'node:path';
import { DriverRegistry } from '#drivers';
import { verifiedService } from '../builders/resources/services';
import { group, organization, ownOrganization } from '../builders/accounts/organization';
import { Drawbridge } from '../harness/product/drawbridge';
import type { AppProcess } from '../harness/product/processes';
import { until } from '../harness/until';

const TELLER = { NODE_OPTIONS: `--require ${resolve(__dirname, '../harness/loading/report-modules.cjs')}` };

/** The SDKs, by who needs them. Drivers that speak plain HTTP have none. */
const SDKS: Readonly<Record<string, string>> = {
  AWS: '@aws-sdk/',
  GCP: '@google-cloud/',
  AZURE: '@azure/',
};

const sdksIn = (loaded: readonly string[]): string[] =>
  Object.keys(SDKS).filter((provider) => loaded.some((part) => part.startsWith(SDKS[provider]!)));
const driversIn = (loaded: readonly string[]): string[] =>
  loaded.filter((part) => part.endsWith('.driver.js'));

/** What a process that was started with the teller has loaded by now. */
async function loadedBy(teller: AppProcess): Promise<readonly string[]> {
  const told = (): string[] => [...teller.output.matchAll(/^LOADED (.*)\n/gm)].map(([, list]) => list!);
  const before = told().length;
  teller.signal('SIGUSR2');
  const answer = await until('the process tells what it has loaded', () =>
    Promise.resolve(told().at(before)),
  );
  return JSON.parse(answer) as string[];
}

describe('A process loads only the SDKs it needs', () => {
  const drawbridge = Drawbridge.own({ worker: false, api: TELLER });
  const org = ownOrganization(drawbridge, []);

  it('the API returns the types of all providers without loading a driver', async () => {
    const types = await org.admin.expect(200, org.admin.get<object[]>('/resources/types'));
    expect(types).toHaveLength(DriverRegistry.providers.length);
    const loaded = await loadedBy(drawbridge.apiServer);
    // other packages are seen: it does not just tell nothing
    expect(loaded).toContain('@nestjs/core');
    expect([...driversIn(loaded), ...sdksIn(loaded)]).toEqual([]);
  });

  it('a worker has no SDK while no cloud is in use', async () => {
    const worker = await drawbridge.startWorker(TELLER);
    const loaded = await loadedBy(worker);
    expect(loaded).toContain('@nestjs/core');
    expect([...driversIn(loaded), ...sdksIn(loaded)]).toEqual([]);
    await worker.stop();
  });

  it('a worker that serves AWS preloads its SDK, and others only when needed', async () => {
    const aws = await organization(drawbridge, [{ group: group(0), config: { port: 22 } }]);
    const worker = await drawbridge.startWorker(TELLER);
    const atStart = await loadedBy(worker);
    expect(driversIn(atStart)).toEqual(['aws.driver.js']);
    expect(sdksIn(atStart)).toEqual(['AWS']);

    const session = await aws.opened({ ipv4Address: '203.0.113.1' });
    await aws.closed(session.id);
    const served = await loadedBy(worker);
    expect(driversIn(served)).toEqual(['aws.driver.js']);
    expect(sdksIn(served)).toEqual(['AWS']);

    await verifiedService(org, 'FIREWALL', 'default', { port: 22 });
    await org.opened({ ipv4Address: '203.0.113.2' });
    const both = ['aws.driver.js', 'gcp.driver.js'];
    expect(driversIn(await loadedBy(worker)).toSorted()).toEqual(both);
    const next = await drawbridge.startWorker(TELLER);
    expect(driversIn(await loadedBy(next)).toSorted()).toEqual(both);
  });
});
