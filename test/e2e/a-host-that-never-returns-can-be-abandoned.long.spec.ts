import { guardedHost, lastHeardOf } from '../builders/resources/agents';
import { auditRecords } from '../builders/audit/audit-trail';
import { colleague } from '../builders/accounts/colleague';
import { ownOrganization } from '../builders/accounts/organization';
import { ledgerOf } from '../builders/sessions/rule-ledger';
import { Drawbridge } from '../harness/product/drawbridge';
import { until } from '../harness/until';

describe('A host that never returns', () => {
  const drawbridge = Drawbridge.shared();
  const org = ownOrganization(drawbridge, []);

  it('can be abandoned by an admin: its rules are listed, its sessions end, it can be deleted [L9]', async () => {
    const host = await guardedHost(org, 'destroyed-host');
    const agent = host.agent();
    await agent.turn();
    expect((await host.verify()).status).toBe(200);
    const [stopped, live] = ['203.0.113.1', '203.0.113.2'] as [string, string];
    const sessions: string[] = [];
    for (const ipv4Address of [stopped, live]) {
      const { id } = await org.started({ ipv4Address, resourceIds: [host.resourceId] });
      await agent.turn();
      await org.reaches(id, 'ACTIVE');
      sessions.push(id);
    }
    await lastHeardOf(drawbridge, host.name, 75);
    await org.admin.posted(`/sessions/${sessions[0]}/stop`);
    expect((await org.session(sessions[0]!)).status).toBe('EXPIRING');

    const path = `/resources/${host.resourceId}/abandon`;
    const reason = 'the machine was destroyed';
    const { client } = await colleague(org);
    expect((await client.post(path, { reason })).status).toBe(403);
    expect((await org.admin.post(path, {})).status).toBe(400);
    expect((await org.admin.post(path, { reason })).status).toBe(200);

    for (const id of sessions) {
      const ended = await until(`session ${id} has ended`, async () => {
        const session = await org.session(id);
        return ['CANCELLED', 'EXPIRED', 'FAILED'].includes(session.status) && session;
      });
      expect(ended.endedAt).not.toBeNull();
      expect(ended.resourceIps[0]).toMatchObject({
        status: 'FAILED',
        removedAt: null,
        errorMessage: `Given up, not observed closed: ${reason}`,
      });
    }
    for (const address of [stopped, live])
      expect((await ledgerOf(drawbridge, address)).at(-1)).toMatchObject({
        kind: 'ABANDONED',
        cause: 'ABANDONED',
      });
    const possible = await org.admin.expect(
      200,
      org.admin.get<{ holderId: string; possibleUntil: string | null }[]>(
        `/reports/access?resourceId=${host.resourceId}&at=${new Date().toISOString()}`,
      ),
    );
    expect(possible.map(({ holderId }) => holderId).toSorted()).toEqual(sessions.toSorted());
    for (const { possibleUntil } of possible) expect(possibleUntil).toBeNull();
    const records = (await auditRecords(org.admin)).filter(({ eventType }) => /ABANDON/.test(eventType));
    const recorded = JSON.stringify(records);
    for (const part of [stopped, live, reason]) expect(recorded).toContain(part);

    await org.admin.expect(204, org.admin.delete(`/resources/${host.resourceId}`));
    expect((await org.admin.get(`/resources/${host.resourceId}`)).status).toBe(404);
    await until('its row is gone', async () => {
      const rows = await drawbridge.query('SELECT 1 FROM resources WHERE id = $1', [host.resourceId]);
      return rows.length === 0;
    });
  });
});
