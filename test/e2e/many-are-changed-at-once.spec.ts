import type { Schemas } from '#client';
import { randomUUID } from 'node:crypto';
import { colleague } from '../builders/accounts/colleague';
import { group, ownOrganization } from '../builders/accounts/organization';
import { auditRecords } from '../builders/audit/audit-trail';
import { resourceBody } from '../builders/resources/resources';
import type { ApiClient, Session } from '../harness/product/api-client';
import { Drawbridge } from '../harness/product/drawbridge';
import { until } from '../harness/until';

type Result = Schemas['BulkResultDto'];

/** Each row as a request for it alone; one that is refused stops nothing. */
describe('Many are changed at once', () => {
  const drawbridge = Drawbridge.shared();
  const org = ownOrganization(drawbridge);
  const other = ownOrganization(drawbridge);

  const bulk = async (path: string, body: object, client: ApiClient = org.admin): Promise<Result[]> =>
    (await client.posted<{ results: Result[] }>(path, body)).results;
  const outcomes = (results: readonly Result[]): (string | number)[] =>
    results.map(({ outcome, status }) => status ?? outcome);
  const records = async (eventType: string, id: string): Promise<string[]> => {
    const query = new URLSearchParams({ eventType, resourceId: id });
    return (await auditRecords(org.admin, `?${query}`)).map(({ result }) => result);
  };

  it('sessions are stopped, in the order asked, each with its record', async () => {
    const mine = await org.started({ ipv4Address: '203.0.113.31' });
    const foreign = await other.started({ ipv4Address: '203.0.113.32' });
    const body = { sessionIds: [foreign.id, mine.id, randomUUID()], action: 'STOP' };
    const results = await bulk('/sessions/admin/bulk', body);
    expect(results.map(({ id }) => id)).toEqual(body.sessionIds);
    expect(outcomes(results)).toEqual([404, 'DONE', 404]);
    expect(await records('SESSION_STOPPED', mine.id)).toEqual(['SUCCESS']);
    expect(await other.session(foreign.id)).toMatchObject({ endedReason: null });
  });

  it('users are deactivated, activated and locked down, but not the last administrator', async () => {
    const { id } = await colleague(org);
    const act = async (action: string, more = {}): Promise<(string | number)[]> =>
      outcomes(await bulk('/users/bulk', { userIds: [org.adminId, id], action, ...more }));
    expect(await act('DEACTIVATE')).toEqual([400, 'DONE']);
    expect(await records('USER_UPDATED', org.adminId)).toEqual(['FAILURE']);
    expect(await act('ACTIVATE')).toEqual(['UNCHANGED', 'DONE']);
    expect(await act('RESEND_INVITATION')).toEqual([400, 400]);
    expect((await org.admin.post('/users/bulk', { userIds: [id], action: 'LOCK_DOWN' })).status).toBe(400);
    expect(await act('LOCK_DOWN', { reason: 'a stolen laptop' })).toEqual([400, 'DONE']);
    expect(await act('LOCK_DOWN', { reason: 'a stolen laptop' })).toEqual([400, 'UNCHANGED']);
  });

  it('users are deleted, each with what is open for it, but not the last administrator', async () => {
    const some = [await colleague(org), await colleague(org)];
    const session = await some[0]!.client.posted<Session>('/sessions', { ipv4Address: '203.0.113.33' });
    const userIds = [...some.map(({ id }) => id), org.adminId];
    expect(outcomes(await bulk('/users/bulk', { userIds, action: 'DELETE' }))).toEqual(['DONE', 'DONE', 400]);
    expect(await org.session(session.id)).toMatchObject({ endedCause: 'USER_OFFBOARDED' });
    for (const { id } of some) {
      expect((await org.admin.get(`/users/${id}`)).status).toBe(404);
      expect(await records('USER_DELETED', id)).toEqual(['SUCCESS']);
    }
  });

  it('a role is given and loses members, and asking twice changes nothing', async () => {
    const role = await org.admin.created('/roles', { name: 'Night shift' });
    const [resourceId] = org.resourceIds;
    const body = { addUserIds: [org.adminId, other.adminId], addResourceIds: [resourceId] };
    expect(outcomes(await bulk(`/roles/${role.id}/members`, body))).toEqual(['DONE', 404, 'DONE']);
    expect(outcomes(await bulk(`/roles/${role.id}/members`, body))).toEqual(['UNCHANGED', 404, 'UNCHANGED']);
    const removal = { removeUserIds: [org.adminId, org.adminId], removeResourceIds: [resourceId] };
    expect(outcomes(await bulk(`/roles/${role.id}/members`, removal))).toEqual(['DONE', 'DONE']);
    for (const kind of ['USER_ASSIGNED', 'RESOURCE_ASSIGNED', 'USER_UNASSIGNED', 'RESOURCE_UNASSIGNED'])
      expect([kind, (await records(`ROLE_${kind}`, role.id)).includes('SUCCESS')]).toEqual([kind, true]);
    expect((await org.admin.post(`/roles/${randomUUID()}/members`, body)).status).toBe(404);
    expect((await org.admin.post(`/roles/${role.id}/members`, {})).status).toBe(400);
  });

  it('an import of resources can be repeated, and their verification is requested', async () => {
    const resources = [1, 2].map((index) =>
      resourceBody(org, {
        name: `imported-${index}`,
        resourceIdentifier: group(index),
        config: { port: 22 },
      }),
    );
    const broken = { ...resources[0], name: 'imported-3', credentialId: other.credentialId };
    const first = await bulk('/resources/bulk', { resources: [...resources, broken] });
    expect(outcomes(first)).toEqual(['DONE', 'DONE', 404]);
    const again = await bulk('/resources/bulk', { resources });
    expect(again.map(({ id, outcome }) => [id, outcome])).toEqual(
      first.slice(0, 2).map(({ id }) => [id, 'UNCHANGED']),
    );
    const resourceIds = again.map(({ id }) => id);
    expect(outcomes(await bulk('/resources/verify', { resourceIds }))).toEqual(['DONE', 'DONE']);
    const labels = { resourceIds, set: { env: 'prod' } };
    expect(outcomes(await bulk('/resources/labels', labels))).toEqual(['DONE', 'DONE']);
    for (const id of resourceIds) {
      const kinds = ['RESOURCE_CREATED', 'RESOURCE_UPDATED', 'RESOURCE_VERIFIED'];
      expect(await Promise.all(kinds.map((kind) => records(kind, id!)))).toEqual(
        kinds.map(() => ['SUCCESS']),
      );
    }
    await until('both are verified and active', async () => {
      const { body } = await org.admin.get<object[]>('/resources?search=imported&state=VERIFIED');
      return body.length === 2;
    });
  });

  it('one at a time for a person, except for stops', async () => {
    const ids = Array.from({ length: 100 }, () => randomUUID());
    const thrice = async (path: string, body: object): Promise<number[]> => {
      const answers = await Promise.all([1, 2, 3].map(() => org.admin.post(path, body)));
      return answers.map(({ status }) => status).toSorted((a, b) => a - b);
    };
    expect(await thrice('/users/bulk', { userIds: ids, action: 'ACTIVATE' })).toEqual([200, 429, 429]);
    const stop = { sessionIds: ids, action: 'STOP' };
    expect(await thrice('/sessions/admin/bulk', stop)).toEqual([200, 200, 200]);
    const tooMany = { sessionIds: [...ids, randomUUID()], action: 'STOP' };
    expect((await org.admin.post('/sessions/admin/bulk', tooMany)).status).toBe(400);
  });
});
