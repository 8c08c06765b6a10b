import { group, ownOrganization } from '../../builders/accounts/organization';
import { newcomer } from '../../builders/accounts/people';
import type { Session } from '../../harness/product/api-client';
import { Drawbridge } from '../../harness/product/drawbridge';
import { until } from '../../harness/until';
import { Watch } from '../oracles/watch';

describe('J. Deploy and operations: the audit trail cannot be written', () => {
  const drawbridge = Drawbridge.own();
  const org = ownOrganization(drawbridge);
  let watch: Watch;

  beforeAll(async () => {
    watch = await Watch.begin(drawbridge);
    await drawbridge.query(`CREATE FUNCTION refuse_record() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION 'the audit trail is full'; END $$`);
  });

  const whileRefused = async (work: () => Promise<void>): Promise<void> => {
    const refused = watch.fault('the audit trail cannot be written');
    await drawbridge.query(
      'CREATE TRIGGER refused BEFORE INSERT ON audit_records FOR EACH ROW EXECUTE FUNCTION refuse_record()',
    );
    try {
      await work();
    } finally {
      await drawbridge.query('DROP TRIGGER refused ON audit_records');
      refused.end();
    }
  };

  const addresses = async (): Promise<string[]> =>
    (await drawbridge.cloud.rules(group(0))).map(({ address }) => address);

  const recorded = (): Promise<boolean> =>
    until(
      'every record is in the trail and every event in the ledger',
      async () =>
        (
          await drawbridge.query(
            'SELECT 1 FROM unwritten_audit_records UNION ALL SELECT 1 FROM unwritten_rule_events',
          )
        ).length === 0,
    );

  const records = (eventType: string, resourceId: string): Promise<{ at: number }[]> =>
    drawbridge.query(
      `SELECT extract(epoch FROM timestamp)::float8 * 1000 AS at FROM audit_records
       WHERE organization_id = $1 AND event_type = $2 AND resource_id = $3`,
      [org.organizationId, eventType, resourceId],
    );

  it('starts and extensions fail without their audit record [J5]', async () => {
    const { id, expiresAt } = await org.started({ ipv4Address: '203.0.113.30' });
    await org.reaches(id, 'ACTIVE');
    await whileRefused(async () => {
      expect((await org.start({ ipv4Address: '203.0.113.31' })).status).toBe(500);
      const body = { label: 'Office', ipAddress: '203.0.113.32', resourceIds: org.resourceIds };
      expect((await org.admin.post('/static-ip-rules', body)).status).toBe(500);
      expect((await org.admin.post(`/sessions/${id}/extend`, { additionalHours: 1 })).status).toBe(500);
      expect((await org.admin.patch(`/users/${org.adminId}`, { name: 'Ada' })).status).toBe(500);
    });
    expect(await addresses()).toEqual(['203.0.113.30']);
    expect((await org.session(id)).expiresAt).toBe(expiresAt);
    await org.admin.posted(`/sessions/${id}/stop`);
    await watch.verify();
  });

  it('what closes goes on at once, and is recorded later with the time at which it happened [J5]', async () => {
    const user = await newcomer(drawbridge, org.admin, { roleIds: [org.roleId] });
    const [stopped, expired, theirs] = await Promise.all([
      org.started({ ipv4Address: '203.0.113.33' }),
      org.started({ ipv4Address: '203.0.113.34' }),
      user.client.posted<Session>('/sessions', { ipv4Address: '203.0.113.35' }),
    ]);
    const body = { label: 'Office', ipAddress: '203.0.113.36', resourceIds: org.resourceIds };
    const rule = await org.admin.created<{ id: string }>('/static-ip-rules', body);
    const ending = await org.admin.created<{ id: string }>('/static-ip-rules', {
      ...body,
      ipAddress: '203.0.113.37',
    });
    await until('all five are present', async () => (await addresses()).length === 5);
    let doneAt = 0;
    await whileRefused(async () => {
      await org.admin.posted(`/sessions/${stopped.id}/stop`);
      await org.expire(expired.id);
      await drawbridge.query('UPDATE static_ip_rules SET expires_at = now() WHERE id = $1', [ending.id]);
      await org.admin.expect(204, org.admin.delete(`/static-ip-rules/${rule.id}`));
      await org.admin.expect(204, org.admin.delete(`/users/${user.id}`));
      await until('all are removed', async () => (await addresses()).length === 0);
      await org.reaches(stopped.id, 'CANCELLED');
      await org.reaches(expired.id, 'EXPIRED');
      doneAt = Date.now();
      expect(await records('SESSION_STOPPED', stopped.id)).toEqual([]);
    });
    await recorded();
    for (const [eventType, id] of [
      ['SESSION_STOPPED', stopped.id],
      ['SESSION_CANCELLED', stopped.id],
      ['SESSION_EXPIRED', expired.id],
      ['STATIC_IP_RULE_DELETED', rule.id],
      ['STATIC_IP_RULE_EXPIRED', ending.id],
      ['USER_DELETED', user.id],
      ['SESSION_STOPPED', theirs.id],
      ['SESSION_CANCELLED', theirs.id],
    ] as const)
      expect([eventType, await records(eventType, id)]).toEqual([eventType, [expect.anything()]]);
    for (const eventType of ['SESSION_STOPPED', 'SESSION_CANCELLED'])
      expect((await records(eventType, stopped.id))[0]!.at).toBeLessThanOrEqual(doneAt);
    await watch.verify();
  });
});
