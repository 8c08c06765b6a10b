import { execFile } from 'node:child_process';
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { historyOf } from '../../builders/sessions/cloud-history';
import { group, organization, sshTo, type Organization } from '../../builders/accounts/organization';
import { type AdminRun, drawbridgeAdmin } from '../../harness/product/admin';
import type { Session } from '../../harness/product/api-client';
import { DebianPostgres, hasDebianPostgres } from '../../harness/database/debian-postgres';
import { Drawbridge } from '../../harness/product/drawbridge';
import { until } from '../../harness/until';

const WAITS = 'The database was restored from a backup: nothing is opened until an operator confirms';
const run = promisify(execFile);

interface Outlook {
  readonly restore: { targets: number; compared: number } | null;
  readonly unknown: { rows: { address: string; organizations: { slug: string }[] }[] };
  readonly unopened: { rows: { address: string; sessionId: string | null; staticIpRuleId: string | null }[] };
}

(hasDebianPostgres ? describe : describe.skip)('F. A backup is restored', () => {
  let postgres: DebianPostgres;
  let drawbridge: Drawbridge;
  let org: Organization;

  beforeAll(async () => {
    postgres = await DebianPostgres.start();
    drawbridge = await Drawbridge.start({ database: postgres.database });
    org = await organization(drawbridge, sshTo(2));
  });
  afterAll(() => drawbridge.stop());

  const bin = (name: string, ...given: string[]): Promise<{ stdout: string }> =>
    run(resolve(__dirname, '../../../bin', name), given, {
      env: { PATH: process.env['PATH'], DRAWBRIDGE_COMPOSE: postgres.compose },
    });
  const restored = (...given: string[]): Promise<AdminRun> =>
    drawbridgeAdmin({ DATABASE_URL: drawbridge.databaseUrl }, ['restored', ...given]);
  const outlook = async (): Promise<Outlook> => JSON.parse((await restored('--json')).stdout) as Outlook;
  const ready = async (): Promise<unknown> => (await drawbridge.api.get('/health/ready')).body;
  const at = async (ipv4Address: string, index = 0): Promise<Session> => {
    const session = await org.started({ ipv4Address, resourceIds: [org.resourceIds[index]] });
    return org.reaches(session.id, 'ACTIVE');
  };
  const history = (address: string): Promise<string[]> => historyOf(drawbridge.cloud, { address });
  const fixed = async (ipAddress: string): Promise<string> =>
    (
      await org.admin.created<{ id: string }>('/static-ip-rules', {
        ipAddress,
        label: 'office',
        resourceIds: [org.resourceIds[0]],
      })
    ).id;

  it('nothing is opened and nothing unknown is closed before an operator confirms [F6]', async () => {
    const [kept, stopped, ended] = [
      await at('203.0.113.10'),
      await at('203.0.113.11'),
      await at('203.0.113.12'),
    ];
    const deleted = await fixed('203.0.113.14');
    await until('it is open', async () => (await history('203.0.113.14')).includes('opened'));
    const dump = postgres.file('before.dump');
    await bin('backup', dump);
    expect(statSync(dump).mode & 0o777).toBe(0o600);
    await expect(bin('backup', dump)).rejects.toMatchObject({ code: 1 });

    await at('203.0.113.13', 1);
    for (const { id } of [stopped, ended]) await org.admin.posted(`/sessions/${id}/stop`);
    await org.reaches(stopped.id, 'CANCELLED');
    await org.admin.expect(204, org.admin.delete(`/static-ip-rules/${deleted}`));
    await until('it is closed', async () => (await history('203.0.113.14')).includes('closed'));
    expect(await restored()).toMatchObject({ code: 0 });

    await drawbridge.worker.stop();
    expect((await bin('restore', dump)).stdout).toContain('--confirm');
    await drawbridge.query(`UPDATE sessions SET expires_at = now() WHERE id = $1`, [ended.id]);
    const { port } = await drawbridge.startWorker({ METRICS_PORT: '0' });

    // known to be over: that goes on
    await org.reaches(ended.id, 'EXPIRED');
    const addresses = (rows: { address: string }[]): string[] => rows.map(({ address }) => address);
    await until('every target was compared, and all of it is listed', async () => {
      const { restore, unknown, unopened } = await outlook();
      return restore!.compared === 2 && unknown.rows.length === 1 && unopened.rows.length === 2;
    });
    const { unknown, unopened } = await outlook();
    expect(addresses(unknown.rows)).toEqual(['203.0.113.13/32']);
    expect(unknown.rows[0]!.organizations).toHaveLength(1);
    expect(unopened.rows).toMatchObject([
      { address: '203.0.113.11/32', sessionId: stopped.id },
      { address: '203.0.113.14/32', staticIpRuleId: deleted },
    ]);
    await until('its address says why', async () =>
      JSON.stringify(await org.session(stopped.id)).includes(WAITS),
    );
    expect(await ready()).toMatchObject({ status: 'DEGRADED', database: 'RESTORED' });
    const metrics = async (): Promise<string> => (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    expect(await metrics()).toContain('drawbridge_restore_hold 1');
    const waiting = await org.started({ ipv4Address: '203.0.113.15', resourceIds: [org.resourceIds[1]] });
    await until('a new session says why it waits', async () =>
      JSON.stringify(await org.session(waiting.id)).includes(WAITS),
    );
    // longer than an addition is waited for
    await drawbridge.query(
      `UPDATE resource_ips SET pending_since = now() - interval '10 minutes' WHERE status = 'PENDING'`,
    );
    await drawbridge.query(`UPDATE rules SET due_at = now() WHERE due_at > now()`);
    await until('they were tried again', async () => {
      const due = await drawbridge.query(`SELECT 1 FROM rules WHERE due_at <= now()`);
      return due.length === 0;
    });
    const [overdue] = await drawbridge.query<{ last_error: string }>(
      `SELECT last_error FROM rules WHERE cause = 'ORPHAN'`,
    );
    expect(overdue!.last_error).toContain('when an operator confirms');

    await org.admin.posted(`/sessions/${stopped.id}/stop`);
    await org.admin.expect(204, org.admin.delete(`/static-ip-rules/${deleted}`));
    expect(await history('203.0.113.13')).toEqual(['opened']);
    expect(await history('203.0.113.15')).toEqual([]);
    expect(await restored()).toMatchObject({ code: 1 });
    expect(await restored('--confirm')).toMatchObject({ code: 0 });
    await until('the unknown rule is closed', async () => (await history('203.0.113.13')).includes('closed'));
    await org.reaches(waiting.id, 'ACTIVE');
    expect((await org.session(kept.id)).status).toBe('ACTIVE');
    expect(await history('203.0.113.10')).toEqual(['opened']);
    for (const address of ['203.0.113.11', '203.0.113.14'])
      expect(await history(address)).toEqual(['opened', 'closed']);
    expect(await ready()).toMatchObject({ status: 'UP', database: 'UP' });
    expect(await metrics()).toContain('drawbridge_restore_hold 0');
    expect(await restored()).toMatchObject({ code: 0 });
    const records = await drawbridge.query(
      `SELECT details FROM audit_records WHERE event_type = 'RESTORE_CONFIRMED'`,
    );
    expect(records).toMatchObject([
      {
        details: {
          closed: [`${group(1)}: 203.0.113.13/32 tcp 22`],
          opened: [`${group(1)}: 203.0.113.15/32 tcp 22`],
        },
      },
    ]);
  });

  it('a second restore works, and the database of before can be taken back', async () => {
    const dump = postgres.file('again.dump');
    await bin('backup', dump);
    const { id } = await at('203.0.113.16');
    await drawbridge.worker.stop();
    const { stdout } = await bin('restore', dump);
    const known = (): Promise<unknown[]> => drawbridge.query('SELECT 1 FROM sessions WHERE id = $1', [id]);
    expect(await known()).toEqual([]);
    await expect(bin('restore', '--database', 'drawbridge_unknown')).rejects.toMatchObject({ code: 1 });
    await bin('restore', '--database', /bin\/restore --database (\w+)/.exec(stdout)![1]!);
    expect(await known()).toHaveLength(1);
    expect(await restored()).toMatchObject({ code: 1 });
    expect(await restored('--confirm')).toMatchObject({ code: 0 });
  });
});
