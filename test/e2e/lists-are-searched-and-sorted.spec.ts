import { randomUUID } from 'node:crypto';
import { colleague } from '../builders/accounts/colleague';
import { group, ownOrganization, SIMULATED_KEY } from '../builders/accounts/organization';
import { resourceBody } from '../builders/resources/resources';
import type { Answer } from '../harness/product/api-client';
import { Drawbridge } from '../harness/product/drawbridge';

interface Item {
  readonly id: string;
  readonly name?: string;
  readonly label?: string;
}

/** Lists of objects that an administrator makes, what two of them need, and the text by which they are sorted. */
const LISTS: Readonly<Record<string, { readonly body?: object; readonly by: 'name' | 'label' }>> = {
  roles: { by: 'name' },
  users: { body: { isService: true }, by: 'name' },
  credentials: {
    body: { provider: 'AWS', credentialType: 'ACCESS_KEY', credentialData: SIMULATED_KEY },
    by: 'name',
  },
  'static-ip-rules': { body: { ipAddress: '198.51.100.0/28' }, by: 'label' },
  'api-keys': { body: { scopes: ['sessions:read'] }, by: 'name' },
  resources: { by: 'name' },
};

describe('Lists', () => {
  const drawbridge = Drawbridge.shared({ worker: false });
  const org = ownOrganization(drawbridge);
  const other = ownOrganization(drawbridge);

  const listed = (path: string, query: object = {}): Promise<Answer<Item[]>> =>
    org.admin.get<Item[]>(`${path}?${new URLSearchParams(query as Record<string, string>)}`);
  const namesIn = async (path: string, query: object): Promise<(string | undefined)[]> => {
    const { status, body } = await listed(path, query);
    expect({ status, body }).toMatchObject({ status: 200 });
    return body.map(({ name, label }) => name ?? label);
  };

  it.each(Object.keys(LISTS))('%s: a part of the name in any case, a whole id, both orders', async (kind) => {
    const { body = {}, by } = LISTS[kind]!;
    const ids = { resourceIds: org.resourceIds };
    for (const [index, name] of ['Zeta_100%', 'alpha quay'].entries()) {
      const resource = resourceBody(org, { resourceIdentifier: group(1 + index) });
      const more = kind === 'resources' ? resource : kind === 'static-ip-rules' ? ids : {};
      await org.admin.created(`/${kind}`, { ...body, ...more, [by]: name });
    }
    expect(await namesIn(`/${kind}`, { search: ' PHA Q' })).toEqual(['alpha quay']);
    expect(await namesIn(`/${kind}`, { search: 'a_1' })).toEqual(['Zeta_100%']);
    expect(await namesIn(`/${kind}`, { search: 'a%1' })).toEqual([]);
    const [found] = (await listed(`/${kind}`, { search: 'alpha quay' })).body;
    expect(await namesIn(`/${kind}`, { search: found!.id.toUpperCase() })).toEqual(['alpha quay']);
    const up = await namesIn(`/${kind}`, { sort: by });
    expect(up.length).toBeGreaterThan(1);
    expect(await namesIn(`/${kind}`, { sort: `-${by}` })).toEqual(up.toReversed());
    const { headers, body: page } = await listed(`/${kind}`, { sort: by, page: '1', size: '1' });
    expect([page[0]?.[by], headers.get('X-Total-Count')]).toEqual([up[1], String(up.length)]);
    const foreign = await other.admin.get<Item[]>(`/${kind}?search=alpha+quay`);
    expect(foreign.body).toEqual([]);
  });

  it.each([
    ['/roles?sort=id', 'sort', 'must be one of name, -name, createdAt, -createdAt, userCount'],
    [`/users?search=${'a'.repeat(101)}`, 'search', 'must have 1 to 100 characters'],
    ['/static-ip-rules?contains=nowhere', 'contains', 'must be an IPv4 or IPv6 address'],
    ['/resources?state=ODD', 'state', 'must be one of VERIFIED, REFUSED'],
    ['/credentials?credentialType=PASSWORD', 'credentialType', 'must be one of'],
    ['/sessions?address=203.0.113.1', 'address', 'goes with from, at most 31 days ago'],
    ['/audit-logs?result=FAILURE&from=2020-01-01', 'result', 'goes with from, at most 31 days ago'],
  ])('%s is refused and names what is allowed', async (path, field, message) => {
    const { status, body } = await org.admin.get<{ message: string }>(path);
    expect([status, body.message.startsWith(`${field} ${message}`)]).toEqual([400, true]);
  });

  it('people by state, rights and roles', async () => {
    const { id, email } = await colleague(org);
    const only = async (query: object): Promise<boolean[]> => {
      const found = (await listed('/users', { isService: 'false', ...query })).body.map((user) => user.id);
      return [found.includes(id), found.includes(org.adminId)];
    };
    expect(await only({ isOrgAdmin: 'true' })).toEqual([false, true]);
    expect(await only({ mfaEnabled: 'false', search: email.slice(0, 8) })).toEqual([true, false]);
    expect(await only({ lockedDown: 'true' })).toEqual([false, false]);
    await org.admin.posted(`/users/${id}/lockdown`, { reason: 'lost laptop' });
    expect(await only({ lockedDown: 'true' })).toEqual([true, false]);
    expect((await listed('/roles', { userId: id, approvals: '0' })).body).toMatchObject([{ id: org.roleId }]);
  });

  it('resources by state, provider and role, of which members see what their answers show', async () => {
    const { client } = await colleague(org);
    expect(await namesIn('/resources', { state: 'VERIFIED', roleId: org.roleId })).toEqual(['resource-0']);
    expect(await namesIn('/resources', { state: 'REFUSED' })).toEqual([]);
    expect(await namesIn('/resources', { provider: 'GCP' })).toEqual([]);
    expect((await client.get<Item[]>('/resources?provider=AWS&search=resource')).body).toHaveLength(1);
    for (const hidden of ['state=VERIFIED', `roleId=${org.roleId}`])
      expect((await client.get(`/resources?${hidden}`)).status).toBe(403);
  });

  it('static rules that let in an address', async () => {
    const rule = { label: 'inside', ipAddress: '192.0.2.0/24', resourceIds: org.resourceIds };
    await org.admin.created('/static-ip-rules', rule);
    const query = { contains: '192.0.2.77', status: 'PENDING', resourceId: org.resourceIds[0]! };
    expect(await namesIn('/static-ip-rules', query)).toEqual(['inside']);
    expect(await namesIn('/static-ip-rules', { contains: '192.0.3.1' })).toEqual([]);
  });

  it('sessions, requests and records of an address, a person and a cause', async () => {
    const { id } = await org.started({ ipv4Address: '203.0.113.201' });
    await org.admin.posted(`/sessions/admin/${id}/stop`);
    const from = new Date(Date.now() - 3_600_000).toISOString();
    const query = { from, address: '203.0.113.201', endedReason: 'ADMIN', breakGlass: 'false' };
    expect((await listed('/sessions/admin', query)).body).toMatchObject([{ id }]);
    expect((await listed('/sessions/admin', { ...query, endedReason: 'MANUAL' })).body).toEqual([]);
    const records = await org.admin.get<{ content: { eventType: string }[] }>(
      `/audit-logs?${new URLSearchParams({ from, result: 'SUCCESS', userId: org.adminId, resourceId: id })}`,
    );
    expect(records.body.content.map(({ eventType }) => eventType)).toContain('SESSION_STOPPED');
    const requests = { view: 'all', userId: org.adminId, resourceId: randomUUID(), status: 'WAITING', from };
    expect((await listed('/access-requests', requests)).body).toEqual([]);
    expect((await org.admin.get('/resource-health/events?eventType=RECONCILE_OK')).status).toBe(200);
    expect((await listed('/agents', { state: 'AWAY', search: 'host' })).body).toEqual([]);
  });
});
