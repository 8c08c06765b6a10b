import { execFileSync } from 'node:child_process';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { allSealed } from '../builders/audit/audit-trail';
import { organization, type Organization } from '../builders/accounts/organization';
import { Drawbridge } from '../harness/product/drawbridge';
import { until } from '../harness/until';

const RECORDS = 100_000;
/** Garbage stays until there is enough of it. */
const MOST_GROWTH_MB = 250;
const EXPORT = '/audit-logs/export';

describe('An export of 100,000 records', () => {
  const drawbridge = Drawbridge.own();
  let org: Organization;

  beforeAll(async () => {
    org = await organization(drawbridge, []);
    await drawbridge.query(
      `INSERT INTO audit_records (organization_id, event_type, actor_type, resource_name, details)
       SELECT $1, 'ROLE_DELETED', 'SYSTEM', 'role ' || n, jsonb_build_object('text', repeat('x', 500))
       FROM generate_series(1, $2::int) n`,
      [org.organizationId, RECORDS],
    );
    await allSealed(drawbridge, null, 120_000);
  });

  const residentMb = (): number =>
    Math.round(Number(execFileSync('ps', ['-o', 'rss=', String(drawbridge.apiServer.pid)])) / 1024);
  const opened = (): Promise<Response> =>
    fetch(`http://127.0.0.1:${drawbridge.apiServer.port}/api/v1${EXPORT}`, {
      headers: { Authorization: `Bearer ${(org.admin.identity as { token: string }).token}` },
    });
  const another = async (): Promise<number> => (await org.admin.send('HEAD', EXPORT)).status;

  it('needs constant memory', async () => {
    const before = residentMb();
    let [lines, last, most] = [0, '', 0];
    for await (const line of createInterface({ input: Readable.fromWeb((await opened()).body as never) })) {
      lines += 1;
      last = line;
      if (lines % 2500 === 0) most = Math.max(most, residentMb());
    }
    expect(JSON.parse(last)).toMatchObject({ end: { records: lines - 1 } });
    expect(lines).toBeGreaterThan(RECORDS);
    expect(most - before).toBeLessThan(MOST_GROWTH_MB);
  });

  it('that is not read keeps no connection of the database, and ends', async () => {
    const answer = await opened();
    expect(await another()).toBe(429);
    const busy = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
      AND (state LIKE 'idle in transaction%' OR query LIKE '%hashBefore%' AND state = 'active')`;
    await until('nothing of it runs there', async () => (await drawbridge.query(busy)).length === 0);
    await until('another one may run', async () => (await another()) === 200);
    await expect(answer.text()).rejects.toThrow('terminated');
  });
});
