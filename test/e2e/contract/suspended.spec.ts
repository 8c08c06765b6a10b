import {
  furnishedOrganization,
  readablePaths,
  type FurnishedOrganization,
} from '../../builders/console/furnished-organization';
import { group, organization } from '../../builders/accounts/organization';
import { founder, type Person } from '../../builders/accounts/people';
import type { ApiClient } from '../../harness/product/api-client';
import { Drawbridge } from '../../harness/product/drawbridge';

describe('9 A suspended organization', () => {
  const drawbridge = Drawbridge.shared({ worker: false });
  let operator: Person;
  let org: FurnishedOrganization;
  let key: ApiClient;
  let removable: readonly string[];

  beforeAll(async () => {
    operator = await founder(drawbridge);
    await drawbridge.query(`UPDATE users SET platform_role = 'SUPER_ADMIN' WHERE id = $1`, [operator.id]);
    org = await furnishedOrganization(drawbridge, { group: group(0) }, '203.0.113.1');
    key = await org.apiKey(['sessions:read', 'sessions:write', 'resources:read', 'audit:read']);
    const spare = { name: 'Spare', provider: 'AGENT', credentialType: 'AGENT' };
    const credential = org.admin.post<{ id: string }>('/credentials', spare);
    removable = [
      `/roles/${org.roleId}/users/${org.userId}`,
      `/roles/${org.roleId}/resources/${org.resourceIds[0]}`,
      `/roles/${org.roleId}`,
      `/static-ip-rules/${org.staticIpRuleId}`,
      `/credentials/${(await org.admin.expect(201, credential)).id}`,
      `/api-keys/${org.apiKeyId}`,
      `/users/${org.userId}`,
    ];
    await operate('suspend', org.organizationId);
  });

  const operate = (action: 'suspend' | 'reactivate', id: string): Promise<unknown> =>
    operator.client.posted(`/platform/organizations/${id}/${action}`, { reason: 'Unpaid' });

  it('starts and extends no session: 403, to users and keys, saying that it is suspended', async () => {
    for (const client of [org.admin, key]) {
      for (const answer of [
        await client.post<{ message: string }>('/sessions', { ipv4Address: '203.0.113.2' }),
        await client.post<{ message: string }>(`/sessions/${org.sessionId}/extend`, { additionalHours: 1 }),
      ]) {
        expect(answer.status).toBe(403);
        expect(answer.body.message).toMatch(/suspended/i);
      }
    }
  });

  it('is read in full: every list and every object, and by key what its scopes allow', async () => {
    const paths = (await readablePaths(org)).filter((path) => !path.startsWith('/platform'));
    expect(paths.length).toBeGreaterThan(20);
    for (const path of paths) expect([path, (await org.admin.get(path)).status]).toEqual([path, 200]);
    for (const path of ['/sessions', `/sessions/${org.sessionId}`, '/resources', '/audit-logs'])
      expect([path, (await key.get(path)).status]).toEqual([path, 200]);
  });

  it('verifies a resource that is off, and does not switch it on', async () => {
    const own = await organization(drawbridge, [{ group: group(1) }]);
    const path = `/resources/${own.resourceIds[0]}`;
    await own.admin.expect(200, own.admin.patch(path, { isActive: false }));
    await operate('suspend', own.organizationId);
    const verified = await own.admin.post<{ isActive: boolean }>(`${path}/verify`);
    expect([verified.status, verified.body.isActive]).toEqual([200, false]);
    await operate('reactivate', own.organizationId);
    expect((await own.admin.post(`${path}/verify`)).body).toMatchObject({ isActive: true });
  });

  it('stops sessions, as owner by key and as admin', async () => {
    expect((await key.post(`/sessions/${org.sessionId}/stop`)).body).toMatchObject({ status: 'EXPIRING' });
    const stopped = await org.admin.post<{ message: string }>(`/sessions/admin/${org.sessionId}/stop`);
    expect([stopped.status, stopped.body.message]).toEqual([400, expect.stringContaining('EXPIRING')]);
  });

  it('deletes its objects', async () => {
    for (const path of removable) {
      expect([path, (await org.admin.delete(path)).status]).toEqual([path, 204]);
    }
    // the stopped session is still being taken out, which says so: not that the organization is suspended
    const busy = await org.admin.delete(`/resources/${org.resourceIds[0]}`);
    expect(busy).toMatchObject({ status: 400, body: { error: 'RESOURCE_IN_USE' } });
    await drawbridge.query(`UPDATE sessions SET status = 'CANCELLED' WHERE id = $1`, [org.sessionId]);
    expect((await org.admin.delete(`/resources/${org.resourceIds[0]}`)).status).toBe(204);
    expect((await org.admin.post('/billing/cancel')).status).toBe(200);
  });

  it('accepts requests again once reactivated', async () => {
    const own = await organization(drawbridge, [{ group: group(1) }]);
    await operate('suspend', own.organizationId);
    const refused = await own.start({ ipv4Address: '203.0.113.3' });
    await operate('reactivate', own.organizationId);
    const again = await own.start({ ipv4Address: '203.0.113.3' });
    expect([refused.status, again.status]).toEqual([403, 200]);
  });
});
