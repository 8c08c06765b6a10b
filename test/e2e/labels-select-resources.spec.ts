import type { Schemas } from '#client';
import { colleague, type Colleague } from '../builders/accounts/colleague';
import { ownOrganization } from '../builders/accounts/organization';
import { auditRecords } from '../builders/audit/audit-trail';
import { resourceBody } from '../builders/resources/resources';
import { containing } from '../harness/matching';
import { Drawbridge } from '../harness/product/drawbridge';

type Right = Schemas['PersonRightDto'] & Schemas['ResourceRightDto'];
type Role = Schemas['RoleDto'];

const EIGHT = 'abcdefgh'.split('');

/** Roles reach resources by their labels, from the next start on, without a further step. */
describe('Labels', () => {
  const drawbridge = Drawbridge.shared();
  const org = ownOrganization(drawbridge);
  const other = ownOrganization(drawbridge);
  let member: Colleague;
  let role: Role;
  let resourceId: string;

  beforeAll(async () => {
    member = await colleague(org, []);
    role = await org.admin.created<Role>('/roles', {
      name: 'Payments',
      resourceSelector: { env: ['prod', 'staging'], team: ['payments'] },
      userIds: [member.id],
    });
    const body = resourceBody(org, { name: 'ledger', config: { port: 22 }, labels: { env: 'prod' } });
    resourceId = (await org.admin.created('/resources', body)).id;
    await org.admin.posted(`/resources/${resourceId}/verify`);
  });

  const label = (body: object): Promise<unknown> =>
    org.admin.posted('/resources/labels', { resourceIds: [resourceId], ...body });
  const start = async (): Promise<number> => {
    const asked = { resourceIds: [resourceId], ipv4Address: '203.0.113.61' };
    const { status, body } = await member.client.post<{ id: string }>('/sessions', asked);
    if (status === 200) await member.client.posted(`/sessions/${body.id}/stop`);
    return status;
  };
  const people = (): Promise<Right[]> => org.admin.read<Right[]>(`/resources/${resourceId}/people`);

  it('give access when all keys fit, and take it from the next start on', async () => {
    expect(await start()).toBe(403);
    await label({ set: { team: 'payments' } });
    expect(await start()).toBe(200);
    const roles = [{ name: 'Payments', by: 'LABEL' }];
    expect(await people()).toMatchObject([{ userId: member.id, roles, openNow: false }]);
    const [own] = await org.admin.read<Right[]>(`/users/${member.id}/resources?search=LEDG`);
    expect(own).toMatchObject({ resourceId, labels: { env: 'prod', team: 'payments' } });
    const assigned = await member.client.read('/resources?assigned=true');
    expect(assigned).toMatchObject([{ id: resourceId, approvalsNeeded: 0 }]);
    const { body: file, headers } = await org.admin.get<string>(`/resources/${resourceId}/people?format=csv`);
    expect(headers.get('content-disposition')).toBe('attachment; filename=people.csv');
    expect(file.split('\r\n')).toEqual([
      'userId,name,email,status,roles,maxSessionDurationHours,approvalsNeeded,needsReason,mayBreakGlass,openNow',
      expect.stringMatching(`^${member.id},.*,Payments,\\d+,0,false,false,false$`),
      '',
    ]);
    const theirs = await org.admin.get<string>(`/users/${member.id}/resources?format=csv&size=1`);
    expect(theirs.body).toContain(`${resourceId},ledger,AWS,true,`);
    expect(theirs.body).toContain('env=prod; ');
    await label({ remove: ['team'] });
    expect([await start(), await people()]).toEqual([403, []]);
    await label({ set: { team: 'payments' } });
  });

  it('a live session continues when they change, and is not extended', async () => {
    const { id } = await member.client.posted<{ id: string }>('/sessions', { ipv4Address: '203.0.113.62' });
    await org.reaches(id, 'ACTIVE');
    await label({ set: { env: 'test' } });
    expect((await member.client.post(`/sessions/${id}/extend`, { additionalHours: 1 })).status).toBe(403);
    expect((await org.session(id)).status).toBe('ACTIVE');
    await label({ set: { env: 'prod' } });
    await member.client.posted(`/sessions/${id}/extend`, { additionalHours: 1 });
    const query = `?eventType=RESOURCE_UPDATED&resourceId=${resourceId}`;
    const [gain, loss] = await auditRecords(org.admin, query);
    expect(gain?.details).toMatchObject({ rolesGained: { names: ['Payments'], total: 1 } });
    expect(loss?.details).toMatchObject({ rolesLost: { names: ['Payments'], total: 1 } });
  });

  it('are counted with roles, filtered by, and found as built-in ones', async () => {
    const found = await org.admin.read<Role[]>(`/roles?resourceId=${resourceId}&sort=-resourceCount`);
    expect(found).toMatchObject([{ id: role.id, resourceIds: [], resourceCount: 1, userCount: 1 }]);
    const query = 'label=env%3Dprod&label=drawbridge/provider%3DAWS';
    expect(await org.admin.read(`/resources?${query}`)).toMatchObject([{ id: resourceId }]);
    expect(await org.admin.read(`/resources?${query}&label=env%3Dtest`)).toEqual([]);
    await org.admin.patched(`/roles/${role.id}`, { resourceSelector: { 'drawbridge/all': ['yes'] } });
    expect(await org.admin.read(`/roles/${role.id}`)).toMatchObject({ resourceCount: 2 });
    expect(await other.admin.read('/resources?label=drawbridge/all%3Dyes')).toHaveLength(1);
    expect((await other.admin.get(`/resources/${resourceId}/people`)).status).toBe(404);
    await org.admin.patched(`/roles/${role.id}`, { resourceSelector: null });
    expect(await start()).toBe(403);
  });

  it.each([
    ['/roles', { resourceSelector: {} }, 'must name a label: drawbridge/all=yes selects every resource'],
    ['/roles', { resourceSelector: { env: [] } }, 'must hold lists of 1 to 20'],
    ['/roles', { resourceSelector: { a: EIGHT, b: EIGHT } }, 'must have at most 50 combinations'],
    ['/resources', { labels: { Env: 'prod' } }, 'must hold keys of a-z'],
    ['/resources', { labels: { 'drawbridge/other': 'no' } }, 'must hold keys of'],
    ['/resources', { labels: { env: ['prod'] } }, 'must hold values of letters'],
  ])('%s %j is refused', async (path, body, message) => {
    const [field] = Object.keys(body);
    const answer = await org.admin.post<{ message: string }>(path, { name: 'x', ...body });
    expect([answer.status, answer.body.message]).toEqual([400, containing(`${field} ${message}`)]);
  });

  it('that give more are refused while suspended, and those that give less are not', async () => {
    const select = (values: string[]): Promise<{ status: number }> =>
      other.admin.patch(`/roles/${other.roleId}`, { resourceSelector: { env: values } });
    expect((await select(['prod', 'test'])).status).toBe(200);
    await other.sets('suspended_at', new Date());
    const set = { resourceIds: other.resourceIds, set: { env: 'prod' } };
    const labelled = await other.admin.posted<{ results: object[] }>('/resources/labels', set);
    // the role has it by its id already
    expect(labelled.results).toMatchObject([{ outcome: 'DONE' }]);
    expect([(await select(['prod'])).status, (await select(['prod', 'dev'])).status]).toEqual([200, 403]);
  });
});
