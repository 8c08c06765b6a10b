import { randomUUID } from 'node:crypto';
import { group, organization, ownOrganization } from '../../builders/accounts/organization';
import { audited, founder, newcomer, type Person } from '../../builders/accounts/people';
import { type AdminRun, drawbridgeAdmin } from '../../harness/product/admin';
import type { Answer } from '../../harness/product/api-client';
import { Drawbridge } from '../../harness/product/drawbridge';

interface PlatformOrganization {
  readonly id: string;
  readonly name: string;
  readonly suspended: boolean;
}

describe('9 Platform', () => {
  const drawbridge = Drawbridge.shared({ worker: false });
  let superAdmin: Person;
  let support: Person;
  const org = ownOrganization(drawbridge);

  const platformRole = (...given: string[]): Promise<AdminRun> =>
    drawbridgeAdmin({ DATABASE_URL: drawbridge.databaseUrl }, ['platform-role', ...given]);

  beforeAll(async () => {
    superAdmin = await founder(drawbridge, 'Operators');
    support = await newcomer(drawbridge, superAdmin.client);
    await platformRole(superAdmin.email);
    await platformRole(support.email, '--role', 'SUPPORT');
  });

  const seen = (id = org.organizationId): Promise<PlatformOrganization> =>
    superAdmin.client.expect(
      200,
      superAdmin.client.get<PlatformOrganization>(`/platform/organizations/${id}`),
    );
  const suspend = (id: string, by = superAdmin): Promise<Answer> =>
    by.client.post(`/platform/organizations/${id}/suspend`, { reason: 'Unpaid' });
  const reactivate = (id: string, by = superAdmin): Promise<Answer> =>
    by.client.post(`/platform/organizations/${id}/reactivate`);

  describe('the command that gives platform roles', () => {
    it('makes a SUPER_ADMIN, whose role counts from the next request on, and writes PLATFORM_ROLE_GRANTED', async () => {
      const person = await founder(drawbridge);
      expect((await person.client.get('/platform/organizations')).status).toBe(403);
      const done = await platformRole(` ${person.email.toUpperCase()} `);
      expect(done).toMatchObject({ code: 0, stdout: expect.stringContaining('SUPER_ADMIN now') as string });
      expect((await person.client.get('/platform/organizations')).status).toBe(200);
      expect(await audited(drawbridge, person.organizationId, 'PLATFORM_ROLE_GRANTED')).toMatchObject([
        {
          actorType: 'SYSTEM',
          resourceId: person.id,
          details: { from: 'CUSTOMER', to: 'SUPER_ADMIN' },
        },
      ]);
      expect(await platformRole(person.email)).toMatchObject({
        code: 0,
        stdout: expect.stringContaining('already') as string,
      });
      expect(await audited(drawbridge, person.organizationId, 'PLATFORM_ROLE_GRANTED')).toHaveLength(1);
    });
  });

  describe('GET /platform/organizations', () => {
    it('lists all organizations, newest first', async () => {
      const newest = await founder(drawbridge, 'Newest');
      const [counted] = await drawbridge.query<{ count: string }>('SELECT count(*) FROM organizations');
      const page = await superAdmin.client.get<PlatformOrganization[]>('/platform/organizations?size=1');
      expect(page.body.map(({ id }) => id)).toEqual([newest.organizationId]);
      expect(page.headers.get('X-Total-Count')).toBe(counted!.count);
    });

    it('searches name, slug and users’ e-mails in any case', async () => {
      const name = `Search ${randomUUID()}`;
      const found = await founder(drawbridge, name);
      for (const search of [name.slice(3).toUpperCase(), found.organizationSlug, found.email]) {
        const path = `/platform/organizations?${new URLSearchParams({ search })}`;
        const { body } = await support.client.get<PlatformOrganization[]>(path);
        expect(body.map(({ id }) => id)).toEqual([found.organizationId]);
      }
    });
  });

  describe('GET /platform/organizations/{id}', () => {
    it('shows one, with its figures', async () => {
      await org.started({ ipv4Address: '203.0.113.30' });
      const one = await seen();
      expect(one).toMatchObject({
        id: org.organizationId,
        subscriptionTier: 'PAID',
        suspended: false,
        suspendedAt: null,
        suspendedReason: null,
        userCount: 1,
        resourceCount: 1,
        liveSessionCount: 1,
      });
    });
  });

  describe('suspending', () => {
    it('POST …/suspend stores the reason and is in the organization’s audit trail; …/reactivate reverts it', async () => {
      const { organizationId: id } = await founder(drawbridge);
      expect(await suspend(id)).toMatchObject({
        status: 200,
        body: { id, suspended: true, suspendedReason: 'Unpaid', suspendedAt: expect.any(String) as string },
      });
      expect(await seen(id)).toMatchObject({ suspended: true, suspendedReason: 'Unpaid' });
      expect(await reactivate(id)).toMatchObject({
        status: 200,
        body: { id, suspended: false, suspendedReason: null, suspendedAt: null },
      });
      expect(await audited(drawbridge, id, 'ORGANIZATION_SUSPENDED')).toMatchObject([
        { actorEmail: superAdmin.email, resourceId: id, details: { reason: 'Unpaid' } },
      ]);
      expect(await audited(drawbridge, id, 'ORGANIZATION_REACTIVATED')).toMatchObject([
        { actorEmail: superAdmin.email, resourceId: id },
      ]);
    });

    it('is 409 when it is done already, also when asked twice at once', async () => {
      const { organizationId: id } = await founder(drawbridge);
      expect((await reactivate(id)).status).toBe(409);
      const answers = await Promise.all([suspend(id), suspend(id)]);
      expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409]);
      expect(await audited(drawbridge, id, 'ORGANIZATION_SUSPENDED')).toHaveLength(1);
    });

    it('requires a reason, and an organization that there is', async () => {
      const path = `/platform/organizations/${org.organizationId}/suspend`;
      expect(await superAdmin.client.post(path, { reason: ' ' })).toMatchObject({
        status: 400,
        body: { validationErrors: { reason: expect.any(String) as string } },
      });
      expect([(await suspend(randomUUID())).status, (await reactivate(randomUUID())).status]).toEqual([
        404, 404,
      ]);
    });

    it('counts from the next request on, also for keys: what opens is 403, stopping and reading work', async () => {
      const own = await organization(drawbridge, [{ group: group(1) }]);
      const key = await own.apiKey(['sessions:write', 'sessions:read']);
      const { id } = await own.started({ ipv4Address: '203.0.113.31' });
      await superAdmin.client.expect(200, suspend(own.organizationId));
      for (const client of [own.admin, key]) {
        expect(await client.post('/sessions', { ipv4Address: '203.0.113.33' })).toMatchObject({
          status: 403,
          body: { message: expect.stringMatching(/suspended/i) as string },
        });
        expect((await client.get(`/sessions/${id}`)).status).toBe(200);
      }
      expect((await key.post(`/sessions/${id}/stop`)).body).toMatchObject({ status: 'EXPIRING' });
      expect((await own.admin.delete(`/roles/${own.roleId}/users/${own.adminId}`)).status).toBe(204);
      await superAdmin.client.expect(200, reactivate(own.organizationId));
      expect((await own.admin.post(`/roles/${own.roleId}/users/${own.adminId}`)).status).toBe(200);
      expect((await own.start({ ipv4Address: '203.0.113.33' })).status).toBe(200);
    });

    it('a resource that is off is verified meanwhile, and not switched on', async () => {
      const own = await organization(drawbridge, [{ group: group(1) }]);
      const path = `/resources/${own.resourceIds[0]}`;
      await own.admin.expect(200, own.admin.patch(path, { isActive: false }));
      await superAdmin.client.expect(200, suspend(own.organizationId));
      expect(await own.admin.posted(`${path}/verify`)).toMatchObject({ isActive: false });
      await superAdmin.client.expect(200, reactivate(own.organizationId));
      expect(await own.admin.posted(`${path}/verify`)).toMatchObject({ isActive: true });
    });
  });
});
