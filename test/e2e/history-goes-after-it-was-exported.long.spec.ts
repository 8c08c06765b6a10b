import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { auditMonths, month } from '../builders/audit/audit-months';
import { allSealed, auditPage } from '../builders/audit/audit-trail';
import { group, organization, type Organization } from '../builders/accounts/organization';
import { type AdminRun, drawbridgeAdmin } from '../harness/product/admin';
import type { Session } from '../harness/product/api-client';
import { Drawbridge } from '../harness/product/drawbridge';
import { until } from '../harness/until';

const MONTHS = 6;
/** in each month; above what a request counts without marks */
const RECORDS = 300;

describe('History goes after its retention', () => {
  const drawbridge = Drawbridge.own();
  let org: Organization;
  let slug: string;
  let folder: string;
  let [ended, open]: string[] = [];

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'drawbridge-history-'));
    org = await organization(drawbridge, [{ group: group(0), config: { port: 22 } }]);
    slug = await org.slug();
    const owner = new Client({ connectionString: drawbridge.ownerUrl });
    await owner.connect();
    await auditMonths(owner, MONTHS);
    await owner.end();
    for (let ahead = -MONTHS; ahead < 0; ahead += 1) {
      await drawbridge.query(
        `INSERT INTO audit_records (organization_id, event_type, actor_type, resource_name, timestamp)
         SELECT $1, CASE WHEN n % 3 = 0 THEN 'ROLE_DELETED' ELSE 'ROLE_UPDATED' END, 'SYSTEM', 'role ' || n,
           (${month(ahead)} + n * interval '1 minute') AT TIME ZONE 'UTC'
         FROM generate_series(1, $2::int) n`,
        [org.organizationId, RECORDS],
      );
    }
    const started = await Promise.all(
      ['203.0.113.1', '203.0.113.2'].map((ipv4Address) => org.started({ ipv4Address })),
    );
    [ended, open] = started.map(({ id }) => id);
    for (const { id } of started) await org.reaches(id, 'ACTIVE');
    await org.admin.expect(200, org.admin.post(`/sessions/${ended}/stop`));
    await org.reaches(ended!, 'CANCELLED');
    // both began long ago, so that the end of the open one would be announced, in a record, while records are counted
    const back = `${month(-5)} AT TIME ZONE 'UTC' + interval '1 day'`;
    await drawbridge.query(
      `UPDATE sessions SET created_at = ${back}, started_at = ${back}, told_end = expires_at,
         ended_at = CASE WHEN ended_at IS NOT NULL THEN ${back} + interval '1 hour' END`,
    );
    await drawbridge.query(`UPDATE resource_ips SET created_at = ${back}`);
    await until(
      'the credential is verified, which is recorded',
      async () => (await auditPage(org.admin, '?eventType=CREDENTIAL_VERIFIED')).totalElements === 1,
    );
    await allSealed(drawbridge);
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const audit = (url: string, ...given: string[]): Promise<AdminRun> =>
    drawbridgeAdmin({ DATABASE_URL: url }, ['audit', ...given]);
  const exportAudit = (keepMonths: number, ...given: string[]): Promise<AdminRun> =>
    audit(drawbridge.ownerUrl, 'export', '--to', folder, '--keep-months', `${keepMonths}`, ...given);
  const verifyAudit = (...given: string[]): Promise<AdminRun> =>
    audit(drawbridge.databaseUrl, 'verify', '--organization', slug, ...given);

  const total = async (query: string): Promise<number> => (await auditPage(org.admin, query)).totalElements;
  const sessions = async (): Promise<{ rows: Session[]; total: number }> => {
    const { body, headers } = await org.admin.get<Session[]>('/sessions/admin');
    return { rows: body, total: Number(headers.get('X-Total-Count')) };
  };
  /** Who had access through the addresses: what the ledger says of the past, without the end of what is open. */
  const report = async (): Promise<object[]> => {
    const window = `from=${new Date(Date.now() - 3_600_000).toISOString()}&to=${new Date().toISOString()}`;
    const rows = await Promise.all(
      ['203.0.113.1', '203.0.113.2'].map(async (address) => {
        const items = await org.admin.expect(
          200,
          org.admin.get<Record<string, unknown>[]>(`/reports/access?address=${address}&${window}`),
        );
        return items.map(({ certainUntil: _until, ...item }) => item);
      }),
    );
    return rows.flat();
  };
  const isOpenInCloud = async (): Promise<boolean> =>
    (await drawbridge.cloud.rules(group(0))).some(
      ({ address }) => address.replace('/32', '') === '203.0.113.2',
    );

  it('ended sessions are deleted; lists, totals and the access report stay right, and no open rule is touched', async () => {
    const before = await report();
    expect(before).toHaveLength(2);
    expect(await sessions()).toMatchObject({ total: 2 });
    const worker = await drawbridge.startWorker({ SESSION_RETENTION_DAYS: '30' });
    await until('the ended session is gone', async () => (await sessions()).total === 1);
    const { rows } = await sessions();
    expect(rows.map(({ id, status }) => [id, status])).toEqual([[open, 'ACTIVE']]);
    expect((await org.admin.get(`/sessions/${ended}`)).status).toBe(404);
    expect(await report()).toEqual(before);
    expect(await isOpenInCloud()).toBe(true);
    await worker.stop();
  });

  it('months of the audit trail are exported and dropped, but for one in which an open session began', async () => {
    const [all, deleted] = [await total(''), await total('?eventType=ROLE_DELETED')];
    expect(deleted).toBe(MONTHS * (RECORDS / 3));
    const files = await exportAudit(3);
    expect(files).toMatchObject({ code: 1, stderr: '' });
    expect(await total('')).toBe(all);

    const run = await exportAudit(3, '--drop');
    expect(run).toMatchObject({ code: 1, stderr: '' });
    expect(run.stdout.match(/exported and dropped/g)).toHaveLength(2);
    expect(run.stdout.match(/kept: something that began in it is still open/g)).toHaveLength(1);
    expect(await total('')).toBe(all - 2 * RECORDS);
    expect(await total('?eventType=ROLE_DELETED')).toBe(deleted - (2 * RECORDS) / 3);
    const last = await auditPage(org.admin, `?size=100&page=${Math.ceil((all - 2 * RECORDS) / 100) - 1}`);
    expect(last.content.at(-1)).toMatchObject({ resourceName: 'role 1' });
    expect(await isOpenInCloud()).toBe(true);

    await org.admin.expect(200, org.admin.post(`/sessions/${open}/stop`));
    await org.reaches(open!, 'CANCELLED');
    const later = await exportAudit(3, '--drop');
    expect(later.stdout.match(/exported and dropped/g)).toHaveLength(1);
    expect(later.code).toBe(0);
    expect(await total('')).toBeGreaterThanOrEqual(all - 3 * RECORDS);
    expect(await total('?eventType=ROLE_DELETED')).toBe(deleted - (3 * RECORDS) / 3);
  });

  it('the chain is verified across the exports from their files; without them it is not, which is no success', async () => {
    const exported = MONTHS * RECORDS - 3 * RECORDS;
    expect(await verifyAudit('--exports', folder)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(`${exported} of them verified from their exports`) as string,
    });
    expect(await verifyAudit()).toMatchObject({
      code: 2,
      stdout: expect.stringContaining(`${exported} of them NOT VERIFIED`) as string,
    });
  });

  it('only the owner of the tables can drop, and arguments are checked', async () => {
    const to = ['--to', folder, '--keep-months', '1', '--drop'];
    const denied = await audit(drawbridge.databaseUrl, 'export', ...to);
    expect(denied.code).toBe(2);
    expect(denied.stderr).toContain('DATABASE_URL must be the address of the owner of the tables');
    expect(await exportAudit(0)).toMatchObject({ code: 2 });
    expect(await audit(drawbridge.ownerUrl, 'export', '--keep-months', '1')).toMatchObject({ code: 2 });
    expect(await verifyAudit('--exports', join(folder, 'none'))).toMatchObject({ code: 2 });
  });
});
