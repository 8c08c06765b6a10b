import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { ownOrganization, sshTo } from '../../builders/accounts/organization';
import { ApiClient } from '../../harness/product/api-client';
import { Drawbridge, TESTERS_LIMIT } from '../../harness/product/drawbridge';
import { LoadBalancer } from '../../harness/network/load-balancer';
import type { AppProcess } from '../../harness/product/processes';
import { migrate } from '../runner/own-postgres';
import { SteadyTraffic } from '../steady-traffic';
import { watchEachTest } from './watch-each-test';

const ROOT = resolve(__dirname, '../../..');
const PER_SECOND = 20;
const API = { DRAIN_SECONDS: '2', ...TESTERS_LIMIT };

const TABLES = `SELECT relname AS name FROM pg_class
  WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
    AND relname NOT LIKE 'chaos_%'`;

/** A copy of this release with one more migration, which adds a column and an index to each table. */
function nextRelease(): string {
  const folder = mkdtempSync(join(tmpdir(), 'drawbridge-next-release-'));
  cpSync(join(ROOT, 'dist'), join(folder, 'dist'), { recursive: true });
  cpSync(join(ROOT, 'package.json'), join(folder, 'package.json'));
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  const source = join(folder, 'dist/libs/entities/src/data-source.js');
  // a table after the other: no request waits for more than one
  const next = `class Next1999999999999 {
    transaction = false;
    async up(runner) {
      for (const { name } of await runner.query(${JSON.stringify(TABLES)})) {
        await runner.query('ALTER TABLE ' + name + ' ADD COLUMN of_the_next_release text');
        await runner.query('CREATE INDEX ON ' + name + ' (of_the_next_release)');
      }
    }
  }`;
  const text = readFileSync(source, 'utf8');
  const added = text.replace(/migrations: \[/, `migrations: [${next}, `);
  expect(added).not.toBe(text);
  writeFileSync(source, added);
  return folder;
}

describe('J. Deploy and operations: two releases', () => {
  const drawbridge = Drawbridge.own();
  const org = ownOrganization(drawbridge, sshTo(2));
  let next: string;
  let balancer: LoadBalancer;
  let traffic: SteadyTraffic;

  beforeAll(() => {
    next = nextRelease();
  });
  afterAll(async () => {
    await traffic.end();
    await balancer.stop();
    rmSync(next, { recursive: true });
  });
  watchEachTest(() => drawbridge);

  const at = ({ port }: { port: number }): ApiClient =>
    new ApiClient(`http://127.0.0.1:${port}/api/v1`, org.admin.identity);

  let addresses = 0;
  const opened = async (through: AppProcess): Promise<string> => {
    addresses += 1;
    const { id } = await at(through).posted<{ id: string }>('/sessions', {
      ipv4Address: `198.51.100.${addresses}`,
    });
    await org.reaches(id, 'ACTIVE');
    return id;
  };
  const closes = async (id: string, through: AppProcess): Promise<void> => {
    await at(through).posted(`/sessions/${id}/stop`);
    await org.reaches(id, 'CANCELLED');
  };

  it('side by side under load on one database, and the older one alone after a roll-back [J2]', async () => {
    const [old, oldWorker] = [await drawbridge.startApi(API), drawbridge.worker];
    balancer = await LoadBalancer.start([old.port]);
    traffic = new SteadyTraffic(balancer.port, org);
    traffic.begin(PER_SECOND);
    await expect(drawbridge.startWorker({}, 'test', next)).rejects.toThrow('older than this release');
    await migrate(drawbridge.ownerUrl, next);
    const byOld = await opened(old);

    const newWorker = await drawbridge.startWorker({}, 'test', next);
    const api = await drawbridge.startApi(API, 'test', next);
    balancer.add(api.port);
    const extended = await opened(api);
    await at(old).posted(`/sessions/${extended}/extend`, { additionalHours: 1 });
    await closes(extended, old);
    await oldWorker.stop();
    await closes(byOld, api);
    const byNew = await opened(api);

    // rolled back: what it migrated stays
    await api.stop();
    balancer.remove(api.port);
    await newWorker.stop();
    await drawbridge.startWorker();
    const again = await drawbridge.startApi(API);
    await closes(byNew, again);
    await closes(await opened(again), old);
    await traffic.end();
    expect(traffic.failures).toEqual([]);
    expect(traffic.requests).toBeGreaterThan(PER_SECOND);
    const columns = await drawbridge.query(
      `SELECT FROM information_schema.columns WHERE column_name = 'of_the_next_release'`,
    );
    expect(columns.length).toBeGreaterThan(20);
  });
});
