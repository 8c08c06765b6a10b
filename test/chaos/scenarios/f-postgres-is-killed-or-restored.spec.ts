import { guardedHost } from '../../builders/resources/agents';
import { historyOf } from '../../builders/sessions/cloud-history';
import { group, organization, sshTo, type Organization } from '../../builders/accounts/organization';
import { type AdminRun, drawbridgeAdmin } from '../../harness/product/admin';
import type { Session } from '../../harness/product/api-client';
import { Drawbridge } from '../../harness/product/drawbridge';
import { OwnPostgres } from '../../harness/database/own-postgres';
import { until } from '../../harness/until';

describe('F. PostgreSQL is killed, or restored from a backup', () => {
  let postgres: OwnPostgres;
  let drawbridge: Drawbridge;
  let org: Organization;

  beforeAll(async () => {
    postgres = await OwnPostgres.start();
    drawbridge = await Drawbridge.start({ database: postgres.database });
    org = await organization(drawbridge, sshTo(3));
  });
  afterAll(() => drawbridge.stop());

  // The history of the oracles is restored with the database, so this test uses the cloud's timeline only.
  it('its files are restored, and the operator says so: nothing is opened or closed unasked, on hosts neither [F6]', async () => {
    const at = (index: number, ipv4Address: string): Promise<Session> =>
      org.started({ ipv4Address, resourceIds: [org.resourceIds[index]] });
    const restored = (...given: string[]): Promise<AdminRun> =>
      drawbridgeAdmin({ DATABASE_URL: drawbridge.databaseUrl }, ['restored', ...given]);
    const connected = (): Promise<unknown> =>
      until('the API is connected again', async () => (await org.admin.get('/sessions')).status === 200);
    const host = await guardedHost(org, 'db-host-1');
    const agent = host.agent();
    await host.guardedBy(agent);
    const [kept, ended] = [await at(2, '203.0.113.10'), await at(2, '203.0.113.11')];
    for (const { id } of [kept, ended]) await org.reaches(id, 'ACTIVE');
    await postgres.save();
    await connected();
    const lost = await at(2, '203.0.113.12');
    await org.reaches(lost.id, 'ACTIVE');
    await org.admin.posted(`/sessions/${ended.id}/stop`);
    await org.reaches(ended.id, 'CANCELLED');

    await drawbridge.worker.stop();
    await postgres.restore();
    expect(await restored('--begin')).toMatchObject({ code: 1 });
    await connected();
    await drawbridge.startWorker();
    expect((await org.admin.get(`/sessions/${lost.id}`)).status).toBe(404);
    // simulates an hour since the backup
    await drawbridge.query(
      `UPDATE targets SET reconcile_due_at = reconcile_due_at - interval '1 hour', lease_until = NULL`,
    );
    await drawbridge.query(`UPDATE sessions SET expires_at = now() WHERE id = $1`, [ended.id]);
    const history = (address: string): Promise<string[]> => historyOf(drawbridge.cloud, { address });
    await until('the unknown rule is listed', async () =>
      (await restored()).stdout.includes('203.0.113.12/32'),
    );
    await org.reaches(ended.id, 'EXPIRED');
    const onHost = await org.started({ ipv4Address: '203.0.113.20', resourceIds: [host.resourceId] });
    expect(await agent.turn()).toMatchObject({ restored: true, rules: [] });
    expect(await history('203.0.113.12')).toEqual(['opened']);
    expect(await restored('--confirm')).toMatchObject({ code: 0 });
    await until('it is closed', async () => (await history('203.0.113.12')).includes('closed'));
    await until('the host gets the rule', async () => (await agent.turn(1)).rules.length === 1);
    expect(agent.state).toMatchObject({ restored: false });
    await org.reaches(onHost.id, 'ACTIVE');
    expect(await history('203.0.113.10')).toEqual(['opened']);
    const removed = async (): Promise<string[]> => {
      const records = await drawbridge.query<{ details: { rules: string[] } }>(
        `SELECT details FROM audit_records WHERE event_type = 'RULE_ORPHAN_REMOVED'`,
      );
      return records.flatMap(({ details }) => details.rules);
    };
    // it is recorded when its absence is observed, shortly after the removal
    await until('its removal is recorded', async () => (await removed()).length > 0);
    expect(await removed()).toEqual(['203.0.113.12/32 tcp 22']);
    await org.expire(kept.id);
    await org.reaches(kept.id, 'EXPIRED');
    expect(await drawbridge.cloud.rules(group(2))).toEqual([]);
  });
});
