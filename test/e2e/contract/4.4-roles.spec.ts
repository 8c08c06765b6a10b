import { randomUUID } from 'node:crypto';
import type { Role } from '../../builders/contract/answers';
import { group, ownOrganization } from '../../builders/accounts/organization';
import { audited, founder, newcomer, paid, type Person } from '../../builders/accounts/people';
import type { ApiClient } from '../../harness/product/api-client';
import { Drawbridge } from '../../harness/product/drawbridge';

describe('4.4 Roles', () => {
  const drawbridge = Drawbridge.shared({ worker: false });
  const org = ownOrganization(drawbridge);
  let admin: ApiClient;
  let member: Person;
  let resource: string;
  const stranger = ownOrganization(drawbridge, [{ group: group(1) }]);

  beforeAll(async () => {
    ({ admin } = org);
    [resource] = org.resourceIds as [string];
    member = await newcomer(drawbridge, admin);
  });

  const made = (body: object = {}, by = admin): Promise<Role> =>
    by.created<Role>('/roles', { name: randomUUID(), ...body });
  const read = (id: string): Promise<Role> => admin.expect(200, admin.get<Role>(`/roles/${id}`));
  const changed = (id: string, body: object): Promise<Role> =>
    admin.expect(200, admin.patch<Role>(`/roles/${id}`, body));
  /** The details of the records that a role has of one type. */
  const recordsOf = async (eventType: string, roleId: string): Promise<object[]> =>
    (await audited(drawbridge, org.organizationId, eventType))
      .filter(({ resourceId }) => resourceId === roleId)
      .map(({ details }) => details);
  /** A role that gives the resource to a person of its own, who has a session. */
  const inUse = async (ipv4Address: string) => {
    const role = await made({ resourceIds: [resource] });
    const person = await newcomer(drawbridge, admin, { roleIds: [role.id] });
    const session = await person.client.posted<{ id: string }>('/sessions', { ipv4Address });
    const isLive = async (): Promise<void> =>
      expect((await person.client.get(`/sessions/${session.id}`)).body).toMatchObject({
        status: 'PENDING',
        endedAt: null,
      });
    return { role, person, isLive };
  };

  it('shows the hours of the tier as they are now while the role has none of its own', async () => {
    const free = await founder(drawbridge);
    const { id } = await made({}, free.client);
    const hours = async (): Promise<number> =>
      (await free.client.expect(200, free.client.get<Role>(`/roles/${id}`))).maxSessionDurationHours;
    expect(await hours()).toBe(4);
    await paid(drawbridge, free.organizationId);
    expect(await hours()).toBe(24);
  });

  describe('POST /roles', () => {
    it('answers 201 with the role, which then can be read', async () => {
      const role = await made({ description: 'They test', maxSessionDurationHours: 8 });
      expect(role).toMatchObject({
        description: 'They test',
        maxSessionDurationHours: 8,
        resourceIds: [],
        userIds: [],
      });
      expect(await read(role.id)).toEqual(role);
      expect(await recordsOf('ROLE_CREATED', role.id)).toHaveLength(1);
    });

    it.each([
      ['a missing name', {}, 'name'],
      ['a blank name', { name: '  ' }, 'name'],
      ['0 hours', { name: 'r', maxSessionDurationHours: 0 }, 'maxSessionDurationHours'],
      ['25 hours', { name: 'r', maxSessionDurationHours: 25 }, 'maxSessionDurationHours'],
      ['half an hour', { name: 'r', maxSessionDurationHours: 0.5 }, 'maxSessionDurationHours'],
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
      const name = `${role.name} 2`;
      const rest = { description: 'old', maxSessionDurationHours: 2 };
      expect(await changed(role.id, { name })).toMatchObject({ name, ...rest });
      const longer = { maxSessionDurationHours: 3, description: 'new' };
      expect(await changed(role.id, longer)).toMatchObject({ ...longer, name });
      expect(await recordsOf('ROLE_UPDATED', role.id)).toMatchObject([
        { changed: { name: { from: role.name } } },
        {},
      ]);
    });

    it('null empties the description and makes the hours follow the tier', async () => {
      const role = await made({ description: 'old', maxSessionDurationHours: 2 });
      const emptied = { description: null, maxSessionDurationHours: null };
      expect(await changed(role.id, emptied)).toMatchObject({ ...emptied, maxSessionDurationHours: 24 });
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
    ])('refuses %s: %p with 400', async (field, value) => {
      expect(await admin.patch(`/roles/${org.roleId}`, { [field]: value })).toMatchObject({
        status: 400,
        body: { validationErrors: { [field]: expect.any(String) as string } },
      });
    });
  });

  describe('DELETE /roles/{id}', () => {
    it('answers 204; the role is gone, its users and resources stay, their sessions go on', async () => {
      const { role, person, isLive } = await inUse('203.0.113.10');
      const deleted = await admin.delete(`/roles/${role.id}`);
      expect([deleted.status, deleted.body]).toEqual([204, null]);
      expect((await admin.get(`/roles/${role.id}`)).status).toBe(404);
      expect((await admin.get(`/users/${person.id}`)).body).toMatchObject({ isActive: true, roleNames: [] });
      expect((await admin.get(`/resources/${resource}`)).status).toBe(200);
      await isLive();
      expect(await recordsOf('ROLE_DELETED', role.id)).toHaveLength(1);
    });
  });

  it('GET /roles lists by name', async () => {
    const own = await founder(drawbridge);
    for (const name of ['c', 'a', 'b']) await made({ name }, own.client);
    const { body } = await own.client.get<Role[]>('/roles');
    expect(body.map(({ name }) => name)).toEqual(['a', 'b', 'c']);
  });

  describe('resourceIds and userIds of a role', () => {
    it('are taken when it is created and changed, each with its audit record', async () => {
      const lists = { resourceIds: [resource], userIds: [member.id] };
      const role = await made(lists);
      expect(role).toMatchObject(lists);
      const userIds = [org.adminId];
      expect(await changed(role.id, { ...role, userIds })).toMatchObject({ ...lists, userIds });
      expect(await changed(role.id, { resourceIds: [] })).toMatchObject({ resourceIds: [], userIds });
      const events = ['RESOURCE_ASSIGNED', 'RESOURCE_UNASSIGNED', 'USER_ASSIGNED', 'USER_UNASSIGNED'];
      const records = events.map((event) => recordsOf(`ROLE_${event}`, role.id));
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
        { resourceIds: [resource, stranger.resourceIds[0]] },
        { userIds: [stranger.adminId] },
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

  // what the matrix has not: objects that are there, and not assigned or deleted
  describe('POST and DELETE /roles/{id}/resources/{resourceId}', () => {
    it('give and take a resource, which may belong to several roles; the session stays as it is', async () => {
      const { role, person, isLive } = await inUse('203.0.113.12');
      const path = `/roles/${role.id}/resources/${resource}`;
      const start = () => person.client.post('/sessions', { ipv4Address: '203.0.113.13' });
      expect((await admin.delete(path)).status).toBe(204);
      expect((await read(role.id)).resourceIds).toEqual([]);
      await isLive();
      expect((await start()).status).toBe(400);
      expect((await admin.delete(path)).status).toBe(404);
      expect(await admin.posted(path)).toEqual({ message: expect.any(String) as string });
      expect((await read(role.id)).resourceIds).toEqual([resource]);
      expect((await read(org.roleId)).resourceIds).toEqual(org.resourceIds);
      expect((await start()).status).toBe(200);
      expect((await admin.post(path)).status).toBe(400);
      expect(await recordsOf('ROLE_RESOURCE_UNASSIGNED', role.id)).toEqual([{ resourceId: resource }]);
      expect(await recordsOf('ROLE_RESOURCE_ASSIGNED', role.id)).toEqual([
        { resourceId: resource },
        { resourceId: resource },
        { status: 400, path: `/api/v1${path}` },
      ]);
    });
  });

  describe('POST and DELETE /roles/{id}/users/{userId}', () => {
    it('give and take a user, whose account and session stay', async () => {
      const { role, person, isLive } = await inUse('203.0.113.14');
      const path = `/roles/${role.id}/users/${person.id}`;
      const answer = await admin.delete(path);
      expect([answer.status, answer.body]).toEqual([204, null]);
      expect((await read(role.id)).userIds).toEqual([]);
      expect((await admin.get(`/users/${person.id}`)).body).toMatchObject({ isActive: true, roleNames: [] });
      await isLive();
      expect((await admin.delete(path)).status).toBe(404);
      expect(await admin.posted(path)).toEqual({ message: expect.any(String) as string });
      expect((await read(role.id)).userIds).toEqual([person.id]);
      expect((await admin.post(path)).status).toBe(400);
      expect(await recordsOf('ROLE_USER_UNASSIGNED', role.id)).toEqual([{ userId: person.id }]);
      expect(await recordsOf('ROLE_USER_ASSIGNED', role.id)).toContainEqual({ userId: person.id });
    });

    it('refuses a deleted user with 404', async () => {
      const gone = await newcomer(drawbridge, admin);
      await admin.expect(204, admin.delete(`/users/${gone.id}`));
      expect((await admin.post(`/roles/${org.roleId}/users/${gone.id}`)).status).toBe(404);
    });
  });
});
