import { randomUUID } from 'node:crypto';
import type { Role } from '../../builders/contract/answers';
import { group, ownOrganization } from '../../builders/accounts/organization';
import { audited, founder, newcomer, paid } from '../../builders/accounts/people';
import type { ApiClient } from '../../harness/product/api-client';
import { Drawbridge } from '../../harness/product/drawbridge';

const FIELDS = [
  'approvals',
  'approverRoleIds',
  'createdAt',
  'description',
  'id',
  'ipv6PrefixLength',
  'maxSessionDurationHours',
  'mayBreakGlass',
  'name',
  'reasonPattern',
  'requireReason',
  'resourceCount',
  'resourceIds',
  'resourceSelector',
  'updatedAt',
  'userCount',
  'userIds',
];

describe('4.4 Roles', () => {
  const drawbridge = Drawbridge.shared({ worker: false });
  const org = ownOrganization(drawbridge);
  let admin: ApiClient;
  const stranger = ownOrganization(drawbridge, [{ group: group(1) }]);

  beforeAll(async () => {
    admin = org.admin;
  });

  const made = (body: object = {}, by = admin): Promise<Role> =>
    by.created<Role>('/roles', { name: randomUUID(), ...body });
  const read = (id: string): Promise<Role> => admin.expect(200, admin.get<Role>(`/roles/${id}`));

  /** Every operation on one role. */
  const operations = (role: string, resource: string, user: string): [string, string, object?][] => [
    ['GET', `/roles/${role}`],
    ['PATCH', `/roles/${role}`, { name: randomUUID() }],
    ['DELETE', `/roles/${role}`],
    ['POST', `/roles/${role}/resources/${resource}`],
    ['DELETE', `/roles/${role}/resources/${resource}`],
    ['POST', `/roles/${role}/users/${user}`],
    ['DELETE', `/roles/${role}/users/${user}`],
  ];
  describe('GET /roles/{id}', () => {
    it('returns the fields of the contract and no others', async () => {
      const role = await read(org.roleId);
      expect(Object.keys(role).toSorted()).toEqual(FIELDS);
      expect(role).toMatchObject({
        name: 'Developers',
        description: null,
        resourceIds: org.resourceIds,
        userIds: [org.adminId],
      });
      expect(new Date(role.createdAt).toISOString()).toBe(role.createdAt);
    });

    it('shows the hours of the tier as they are now while the role has none of its own', async () => {
      const free = await founder(drawbridge);
      const { id } = await made({}, free.client);
      const hours = async (): Promise<number> =>
        (await free.client.expect(200, free.client.get<Role>(`/roles/${id}`))).maxSessionDurationHours;
      expect(await hours()).toBe(4);
      await paid(drawbridge, free.organizationId);
      expect(await hours()).toBe(24);
    });
  });

  describe('POST /roles', () => {
    it('answers 201 with the role, which then can be read', async () => {
      const role = await made({ description: 'They test', maxSessionDurationHours: 8 });
      expect(Object.keys(role).toSorted()).toEqual(FIELDS);
      expect(role).toMatchObject({
        description: 'They test',
        maxSessionDurationHours: 8,
        resourceIds: [],
        userIds: [],
      });
      expect(await read(role.id)).toEqual(role);
      expect(await audited(drawbridge, org.organizationId, 'ROLE_CREATED')).toContainEqual(
        expect.objectContaining({ resourceId: role.id }),
      );
    });

    it.each([
      ['a missing name', {}, 'name'],
      ['a blank name', { name: '  ' }, 'name'],
      ['a name that is no text', { name: 7 }, 'name'],
      ['0 hours', { name: 'r', maxSessionDurationHours: 0 }, 'maxSessionDurationHours'],
      ['25 hours', { name: 'r', maxSessionDurationHours: 25 }, 'maxSessionDurationHours'],
      ['half an hour', { name: 'r', maxSessionDurationHours: 0.5 }, 'maxSessionDurationHours'],
      ['hours as a text', { name: 'r', maxSessionDurationHours: '8' }, 'maxSessionDurationHours'],
      ['a description that is no text', { name: 'r', description: 1 }, 'description'],
      ['a reason that is neither asked for nor not', { name: 'r', requireReason: 'yes' }, 'requireReason'],
      ['a pattern that nothing would match', { name: 'r', reasonPattern: 'INC-*' }, 'reasonPattern'],
      ['a pattern without end', { name: 'r', reasonPattern: '*'.repeat(201) }, 'reasonPattern'],
      ['3 approvals', { name: 'r', approvals: 3 }, 'approvals'],
      ['an approver role that is no id', { name: 'r', approverRoleIds: ['x'] }, 'approverRoleIds'],
      ['half of all IPv6 addresses', { name: 'r', ipv6PrefixLength: 1 }, 'ipv6PrefixLength'],
    ])('refuses %s with 400 and names the field', async (_, body, field) => {
      const answer = await admin.post<{ validationErrors: object }>('/roles', body);
      expect(answer.status).toBe(400);
      expect(Object.keys(answer.body.validationErrors)).toEqual([field]);
    });

    it('refuses a name that is taken with 400, also when two ask at once; other organizations may have it', async () => {
      const name = randomUUID();
      const answers = await Promise.all([1, 2, 3].map(() => admin.post('/roles', { name })));
      expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 400, 400]);
      expect((await stranger.admin.post('/roles', { name })).status).toBe(201);
    });
  });

  describe('PATCH /roles/{id}', () => {
    it('changes only what is given', async () => {
      const role = await made({ description: 'old', maxSessionDurationHours: 2 });
      const renamed = await admin.expect(
        200,
        admin.patch<Role>(`/roles/${role.id}`, { name: `${role.name} 2` }),
      );
      expect(renamed).toMatchObject({
        name: `${role.name} 2`,
        description: 'old',
        maxSessionDurationHours: 2,
      });
      const longer = { maxSessionDurationHours: 3, description: 'new' };
      expect(await admin.expect(200, admin.patch<Role>(`/roles/${role.id}`, longer))).toMatchObject({
        ...longer,
        name: `${role.name} 2`,
      });
      expect(
        (await audited(drawbridge, org.organizationId, 'ROLE_UPDATED')).filter(
          (record) => record.resourceId === role.id,
        ),
      ).toMatchObject([{ details: { changed: { name: { from: role.name } } } }, {}]);
    });

    it('null empties the description and makes the hours follow the tier', async () => {
      const role = await made({ description: 'old', maxSessionDurationHours: 2 });
      const emptied = { description: null, maxSessionDurationHours: null };
      expect(await admin.expect(200, admin.patch<Role>(`/roles/${role.id}`, emptied))).toMatchObject({
        description: null,
        maxSessionDurationHours: 24,
      });
    });

    it('refuses another role’s name with 400; its own is no conflict', async () => {
      const [one, two] = [await made(), await made()];
      expect(await admin.patch(`/roles/${one.id}`, { name: two.name })).toMatchObject({
        status: 400,
        body: { validationErrors: { name: expect.any(String) as string } },
      });
      expect((await admin.patch(`/roles/${one.id}`, { name: one.name })).status).toBe(200);
    });

    it.each([
      ['name', null],
      ['name', ''],
      ['maxSessionDurationHours', 25],
      ['maxSessionDurationHours', 0],
      ['description', 5],
    ])('refuses %s: %p with 400', async (field, value) => {
      expect(await admin.patch(`/roles/${org.roleId}`, { [field]: value })).toMatchObject({
        status: 400,
        body: { validationErrors: { [field]: expect.any(String) as string } },
      });
    });
  });

  describe('DELETE /roles/{id}', () => {
    it('answers 204; the role is gone, its users and resources stay, their sessions go on', async () => {
      const role = await made();
      const own = await newcomer(drawbridge, admin, { roleIds: [role.id] });
      await admin.posted(`/roles/${role.id}/resources/${org.resourceIds[0]}`);
      const session = await own.client.posted<{ id: string }>('/sessions', { ipv4Address: '203.0.113.10' });
      const deleted = await admin.delete(`/roles/${role.id}`);
      expect([deleted.status, deleted.body]).toEqual([204, null]);
      expect(await admin.statuses(operations(role.id, org.resourceIds[0]!, own.id))).toEqual(new Set([404]));
      expect((await admin.get(`/users/${own.id}`)).body).toMatchObject({ isActive: true, roleNames: [] });
      expect((await admin.get(`/resources/${org.resourceIds[0]}`)).status).toBe(200);
      expect((await own.client.get(`/sessions/${session.id}`)).body).toMatchObject({
        status: 'PENDING',
        endedAt: null,
      });
      expect(await audited(drawbridge, org.organizationId, 'ROLE_DELETED')).toContainEqual(
        expect.objectContaining({ resourceId: role.id }),
      );
    });
  });

  describe('GET /roles', () => {
    it('is a plain array by name, with the total and links to the pages beside', async () => {
      const own = await founder(drawbridge);
      for (const name of ['c', 'a', 'b']) await made({ name }, own.client);
      const all = await own.client.get<Role[]>('/roles');
      expect(all.body.map(({ name }) => name)).toEqual(['a', 'b', 'c']);
      expect(all.headers.get('X-Total-Count')).toBe('3');
      expect(all.headers.get('Link')).toBeNull();
      const second = await own.client.get<Role[]>('/roles?page=1&size=1');
      expect(second.body.map(({ name }) => name)).toEqual(['b']);
      expect(second.headers.get('X-Total-Count')).toBe('3');
      expect(second.headers.get('Link')).toMatch(/page=0&size=1>; rel="prev".*page=2&size=1>; rel="next"/);
    });
  });

  describe('every operation', () => {
    it('is 404 on another organization’s role, and leaves it as it was', async () => {
      const asked = operations(stranger.roleId, stranger.resourceIds[0]!, stranger.adminId);
      expect(await admin.statuses(asked)).toEqual(new Set([404]));
      expect((await stranger.admin.get(`/roles/${stranger.roleId}`)).body).toMatchObject({
        name: 'Developers',
        resourceIds: stranger.resourceIds,
        userIds: [stranger.adminId],
      });
    });
  });
});
