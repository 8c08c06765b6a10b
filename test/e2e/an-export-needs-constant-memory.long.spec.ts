import { execFileSync } from 'node:child_process';
import { request, type IncomingMessage } from 'node:http';
import { createInterface } from 'node:readline';
import { organization, type Organization } from '../builders/organization';
import { Drawbridge } from '../harness/drawbridge';
import { until } from '../harness/until';

const RECORDS = 100_000;
const MOST_GROWTH_MB = 50;

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
    await until(
      'all are sealed',
      async () => {
        const [row] = await drawbridge.query<{ open: boolean }>(
          `SELECT EXISTS (SELECT FROM audit_records r WHERE NOT EXISTS (
             SELECT FROM audit_seals s WHERE s.record_id = r.id)) AS open`,
        );
        return !row!.open;
      },
      120_000,
    );
  }, 150_000);

  const residentMb = (): number =>
    Number(execFileSync('ps', ['-o', 'rss=', '-p', String(drawbridge.apiServer.pid)], { encoding: 'utf8' })) /
    1024;

  const opened = (): Promise<IncomingMessage> =>
    new Promise((answered, failed) => {
      const { token } = org.admin.identity as { token: string };
      request({
        port: drawbridge.apiServer.port,
        path: '/api/v1/audit-logs/export',
        headers: { Authorization: `Bearer ${token}` },
      })
        .on('response', answered)
        .on('error', failed)
        .end();
    });

  it('needs constant memory', async () => {
    const began = performance.now();
    let [lines, last] = [0, ''];
    // of the first and of the second half: garbage is collected late, but what is kept would grow
    const most: [number, number] = [0, 0];
    for await (const line of createInterface({ input: await opened() })) {
      lines += 1;
      last = line;
      if (lines % 2500 === 0) {
        const half = lines > RECORDS / 2 ? 1 : 0;
        most[half] = Math.max(most[half], residentMb());
      }
    }
    const seconds = (performance.now() - began) / 1000;
    const [early, late] = most.map(Math.round) as [number, number];
    process.stderr.write(
      `\nExport: ${lines} lines in ${seconds.toFixed(1)} s; at most ${early} MB, then ${late} MB\n`,
    );
    expect(JSON.parse(last)).toMatchObject({ end: { records: lines - 1 } });
    expect(lines).toBeGreaterThan(RECORDS);
    expect(late - early).toBeLessThan(MOST_GROWTH_MB);
  });

  it('that is not read keeps no connection of the database, and ends', async () => {
    const answer = await opened();
    const closed = new Promise((done) => answer.on('aborted', done).on('error', () => undefined));
    expect((await org.admin.send('HEAD', '/audit-logs/export')).status).toBe(429);
    await until('nothing of it runs in the database', async () => {
      const [busy] = await drawbridge.query(
        `SELECT FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
           AND (state LIKE 'idle in transaction%' OR query LIKE '%hashBefore%' AND state = 'active')`,
      );
      return !busy;
    });
    const most = residentMb();
    await until(
      'another one may run',
      async () => (await org.admin.send('HEAD', '/audit-logs/export')).status === 200,
      40_000,
    );
    expect(residentMb() - most).toBeLessThan(MOST_GROWTH_MB);
    answer.resume();
    await closed;
  }, 60_000);
});
