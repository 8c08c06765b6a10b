import { ownOrganization, sshTo } from '../../builders/accounts/organization';
import { Drawbridge } from '../../harness/product/drawbridge';

describe('maxResourcesPerSession', () => {
  const drawbridge = Drawbridge.shared({ worker: false });
  const org = ownOrganization(drawbridge, sshTo([0, 1, 2]));

  it('refuses a session, and its plan, that would open more, and lets one choose', async () => {
    await org.admin.expect(200, org.admin.patch('/organization/settings', { maxResourcesPerSession: 2 }));
    for (const path of ['/sessions', '/sessions/plan']) {
      const { status, body } = await org.admin.post<{ message?: string; refusal?: { message: string } }>(
        path,
        {
          ipv4Address: '203.0.113.5',
        },
      );
      expect(status).toBe(path === '/sessions' ? 400 : 200);
      expect(body.refusal?.message ?? body.message).toMatch(
        /3 resources, .* at most 2 in one session: name those/,
      );
    }
    const resourceIds = org.resourceIds.slice(0, 2);
    expect((await org.admin.post('/sessions', { ipv4Address: '203.0.113.5', resourceIds })).status).toBe(200);
  });
});
