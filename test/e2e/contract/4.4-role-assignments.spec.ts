import { randomUUID } from 'node:crypto';
import type { Role } from '../../builders/contract/answers';
import { group, ownOrganization } from '../../builders/accounts/organization';
import { audited, newcomer, type Person } from '../../builders/accounts/people';
import type { ApiClient } from '../../harness/product/api-client';
import { Drawbridge } from '../../harness/product/drawbridge';

describe('4.4 Roles: resources and users', () => {
  const drawbridge = Drawbridge.shared({ worker: false });
  const org = ownOrganization(drawbridge);
  let admin: ApiClient;
  let member: Person;
  const stranger = ownOrganization(drawbridge, [{ group: group(1) }]);
  let strangersMember: Person;

  beforeAll(async () => {
    admin = org.admin;
    member = await newcomer(drawbridge, admin);
    strangersMember = await newcomer(drawbridge, stranger.admin);
  });

  const made = (body: object = {}, by = admin): Promise<Role> =>
    by.created<Role>('/roles', { name: randomUUID(), ...body });
  const read = (id: string): Promise<Role> => admin.expect(200, admin.get<Role>(`/roles/${id}`));

  describe('resourceIds and userIds of a role', () => {
    it('are taken when it is created and changed, each with its audit record', async () => {
      const [resource] = org.resourceIds as [string];
      const lists = { resourceIds: [resource], userIds: [member.id] };
      const role = await made(lists);
      expect(role).toMatchObject(lists);
      const path = `/roles/${role.id}`;
      expect((await admin.patch(path, { ...role, userIds: [org.adminId] })).body).toMatchObject({
        resourceIds: [resource],
        userIds: [org.adminId],
      });
      expect((await admin.patch(path, { resourceIds: [] })).body).toMatchObject({
        resourceIds: [],
        userIds: [org.adminId],
      });
      const events = ['RESOURCE_ASSIGNED', 'RESOURCE_UNASSIGNED', 'USER_ASSIGNED', 'USER_UNASSIGNED'];
      const records = events.map(async (event) => {
        const found = await audited(drawbridge, org.organizationId, `ROLE_${event}`);
        return found.filter(({ resourceId }) => resourceId === role.id).map(({ details }) => details);
      });
      expect(await Promise.all(records)).toEqual([
        [{ resourceId: resource }],
        [{ resourceId: resource }],
        expect.arrayContaining([{ userId: member.id }, { userId: org.adminId }]),
        [{ userId: member.id }],
      ]);
    });

    it('of another organization, or missing, are 404, and nothing is stored', async () => {
      const name = randomUUID();
      const before = await read(org.roleId);
      const wrong = [
        { resourceIds: [org.resourceIds[0], stranger.resourceIds[0]] },
        { userIds: [strangersMember.id] },
        { userIds: [randomUUID()] },
      ];
      for (const lists of wrong) {
        expect((await admin.post('/roles', { name, ...lists })).status).toBe(404);
        expect((await admin.patch(`/roles/${org.roleId}`, { name, ...lists })).status).toBe(404);
      }
      expect(await read(org.roleId)).toEqual(before);
      await made({ name });
    });
  });

  describe('POST /roles/{id}/resources/{resourceId}', () => {
    it('answers 200 with a message; a resource may belong to several roles', async () => {
      const role = await made();
      const answer = await admin.post<{ message: string }>(
        `/roles/${role.id}/resources/${org.resourceIds[0]}`,
      );
      expect(answer.status).toBe(200);
      expect(Object.keys(answer.body)).toEqual(['message']);
      expect((await read(role.id)).resourceIds).toEqual([org.resourceIds[0]]);
      expect((await read(org.roleId)).resourceIds).toEqual(org.resourceIds);
      expect(await audited(drawbridge, org.organizationId, 'ROLE_RESOURCE_ASSIGNED')).toContainEqual(
        expect.objectContaining({ resourceId: role.id, details: { resourceId: org.resourceIds[0] } }),
      );
    });

    it('refuses a resource that is assigned already with 400', async () => {
      expect((await admin.post(`/roles/${org.roleId}/resources/${org.resourceIds[0]}`)).status).toBe(400);
    });

    it('refuses a resource or a role that does not exist or is another organization’s with 404', async () => {
      const asked = [
        [org.roleId, randomUUID()],
        [org.roleId, stranger.resourceIds[0]],
        [randomUUID(), org.resourceIds[0]],
        [stranger.roleId, org.resourceIds[0]],
      ].map(([role, resource]): [string, string] => ['POST', `/roles/${role}/resources/${resource}`]);
      expect(await admin.statuses(asked)).toEqual(new Set([404]));
    });

    it('gives the resource to the role’s users, for new sessions', async () => {
      const role = await made();
      const own = await newcomer(drawbridge, admin, { roleIds: [role.id] });
      const start = () => own.client.post('/sessions', { ipv4Address: '203.0.113.11' });
      expect((await start()).status).toBe(400);
      await admin.posted(`/roles/${role.id}/resources/${org.resourceIds[0]}`);
      expect((await start()).status).toBe(200);
    });
  });

  describe('DELETE /roles/{id}/resources/{resourceId}', () => {
    it('answers 204 and takes the resource out; the session stays as it is', async () => {
      const role = await made();
      const own = await newcomer(drawbridge, admin, { roleIds: [role.id] });
      const path = `/roles/${role.id}/resources/${org.resourceIds[0]}`;
      await admin.posted(path);
      const session = await own.client.posted<{ id: string }>('/sessions', { ipv4Address: '203.0.113.12' });
      expect((await admin.delete(path)).status).toBe(204);
      expect((await read(role.id)).resourceIds).toEqual([]);
      expect((await own.client.get(`/sessions/${session.id}`)).body).toMatchObject({ status: 'PENDING' });
      expect((await own.client.post('/sessions', { ipv4Address: '203.0.113.13' })).status).toBe(400);
      expect(await audited(drawbridge, org.organizationId, 'ROLE_RESOURCE_UNASSIGNED')).toContainEqual(
        expect.objectContaining({ resourceId: role.id }),
      );
    });

    it('answers 404 when the role or the resource is missing or the resource is not assigned', async () => {
      const role = await made();
      const asked = [
        [role.id, org.resourceIds[0]],
        [role.id, randomUUID()],
        [randomUUID(), org.resourceIds[0]],
        [stranger.roleId, stranger.resourceIds[0]],
      ].map(([id, resource]): [string, string] => ['DELETE', `/roles/${id}/resources/${resource}`]);
      expect(await admin.statuses(asked)).toEqual(new Set([404]));
      expect((await stranger.admin.get(`/roles/${stranger.roleId}`)).body).toMatchObject({
        resourceIds: stranger.resourceIds,
      });
    });
  });

  describe('POST /roles/{id}/users/{userId}', () => {
    it('answers 200 with a message; assigned already: 400', async () => {
      const role = await made();
      const answer = await admin.post<{ message: string }>(`/roles/${role.id}/users/${member.id}`);
      expect(answer.status).toBe(200);
      expect(Object.keys(answer.body)).toEqual(['message']);
      expect((await read(role.id)).userIds).toEqual([member.id]);
      expect((await admin.post(`/roles/${role.id}/users/${member.id}`)).status).toBe(400);
      expect(await audited(drawbridge, org.organizationId, 'ROLE_USER_ASSIGNED')).toContainEqual(
        expect.objectContaining({ resourceId: role.id, details: { userId: member.id } }),
      );
    });

    it('refuses a user or a role that does not exist, is deleted, or is another organization’s with 404', async () => {
      const gone = await newcomer(drawbridge, admin);
      await admin.expect(204, admin.delete(`/users/${gone.id}`));
      const asked = [
        [org.roleId, randomUUID()],
        [org.roleId, gone.id],
        [org.roleId, strangersMember.id],
        [randomUUID(), member.id],
        [stranger.roleId, member.id],
      ].map(([role, user]): [string, string] => ['POST', `/roles/${role}/users/${user}`]);
      expect(await admin.statuses(asked)).toEqual(new Set([404]));
    });
  });

  describe('DELETE /roles/{id}/users/{userId}', () => {
    it('answers 204 without a body; the account and its session stay', async () => {
      const role = await made();
      const own = await newcomer(drawbridge, admin, { roleIds: [role.id] });
      await admin.posted(`/roles/${role.id}/resources/${org.resourceIds[0]}`);
      const session = await own.client.posted<{ id: string }>('/sessions', { ipv4Address: '203.0.113.14' });
      const answer = await admin.delete(`/roles/${role.id}/users/${own.id}`);
      expect([answer.status, answer.body]).toEqual([204, null]);
      expect((await read(role.id)).userIds).toEqual([]);
      expect((await admin.get(`/users/${own.id}`)).body).toMatchObject({ isActive: true, roleNames: [] });
      expect((await own.client.get(`/sessions/${session.id}`)).body).toMatchObject({ status: 'PENDING' });
      expect(await audited(drawbridge, org.organizationId, 'ROLE_USER_UNASSIGNED')).toContainEqual(
        expect.objectContaining({ resourceId: role.id, details: { userId: own.id } }),
      );
    });

    it('answers 404 when the role or the user is missing or the user is not assigned', async () => {
      const role = await made();
      const asked = [
        [role.id, member.id],
        [role.id, randomUUID()],
        [randomUUID(), member.id],
        [stranger.roleId, stranger.adminId],
      ].map(([id, user]): [string, string] => ['DELETE', `/roles/${id}/users/${user}`]);
      expect(await admin.statuses(asked)).toEqual(new Set([404]));
    });
  });
});
