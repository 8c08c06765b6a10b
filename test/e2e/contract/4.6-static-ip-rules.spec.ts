import { randomUUID } from 'node:crypto';
import { group, organization, ownOrganization, sshTo } from '../../builders/accounts/organization';
import { ApiClient } from '../../harness/product/api-client';
import {
  postStaticIpRule as post,
  staticIpRule,
  staticIpRuleReaches,
  type StaticIpRule,
} from '../../builders/resources/static-ip-rules';
import { Drawbridge } from '../../harness/product/drawbridge';
import { until } from '../../harness/until';

describe('4.6 Static IP rules', () => {
  const drawbridge = Drawbridge.shared();
  const org = ownOrganization(drawbridge, sshTo(5));
  const other = ownOrganization(drawbridge);

  const created = (body: object): Promise<StaticIpRule> => staticIpRule(org, body);
  const reaches = (id: string, status: string): Promise<StaticIpRule> => staticIpRuleReaches(org, id, status);
  const listIds = async (status: string): Promise<string[]> => {
    const list = org.admin.get<StaticIpRule[]>(`/static-ip-rules?status=${status}`);
    return (await org.admin.expect(200, list)).map(({ id }) => id);
  };
  const isOpen = async (target: string, address: string): Promise<boolean> =>
    (await drawbridge.cloud.rules(target)).some((rule) => rule.address === address);

  describe('POST /static-ip-rules', () => {
    it('answers 201, PENDING on every resource', async () => {
      const rule = await created({ ipAddress: '198.51.100.1', resourceIds: org.resourceIds.slice(0, 2) });
      const pending = { status: 'PENDING', appliedAt: null, errorMessage: null };
      expect(rule).toMatchObject({
        label: 'Office',
        expiresAt: null,
        closedOn: [],
        ipAddress: '198.51.100.1',
        status: 'PENDING',
        createdByEmail: org.adminEmail,
        resources: [0, 1].map((index) => ({
          resourceId: org.resourceIds[index],
          resourceName: `resource-${index}`,
          ...pending,
        })),
      });
    });

    it.each([
      ['10.1.2.3/8', '10.0.0.0/8'],
      ['2001:db8:ffff::/32', '2001:db8::/32'],
      ['::ffff:198.51.100.9', '198.51.100.9'],
      ['198.51.100.8/32', '198.51.100.8'],
    ])('%s is kept as %s', async (ipAddress, canonical) => {
      // a resource of its own: a /8 is all that the ranges of one may be together
      const resourceIds = [org.resourceIds[ipAddress.endsWith('/8') ? 3 : 0]];
      expect((await created({ ipAddress, resourceIds })).ipAddress).toBe(canonical);
    });

    it('lists a resource once when it is given repeatedly or in another spelling', async () => {
      const [one] = org.resourceIds;
      const rule = await created({ ipAddress: '198.51.100.10', resourceIds: [one, one!.toUpperCase(), one] });
      expect(rule.resources.map(({ resourceId }) => resourceId)).toEqual([one]);
    });

    it('applies a range as a range', async () => {
      const { id } = await created({ ipAddress: '198.51.100.128/25', resourceIds: [org.resourceIds[1]] });
      await reaches(id, 'ACTIVE');
      expect(await isOpen(group(1), '198.51.100.128/25')).toBe(true);
    });

    it.each([
      ['a blank label', { label: '  ' }],
      ['no ipAddress', { ipAddress: undefined }],
      ['no resourceIds', { resourceIds: undefined }],
      ['a resource id that is no UUID', { resourceIds: ['x'] }],
    ])('with %s is 400 BAD_REQUEST', async (_, body) => {
      expect(await post(org, { ipAddress: '198.51.100.3', ...body })).toMatchObject({
        status: 400,
        body: { error: 'BAD_REQUEST' },
      });
    });

    it.each([
      ['no address', { ipAddress: 'office.example.com' }],
      ['an address with leading zeros', { ipAddress: '198.051.100.1' }],
      ['everything', { ipAddress: '0.0.0.0/0' }],
      ['wider than /8', { ipAddress: '10.0.0.0/7' }],
      ['wider than /16 in IPv6', { ipAddress: '2001::/15' }],
      ['multicast', { ipAddress: '224.0.0.1' }],
      ['an empty list', { resourceIds: [] }],
    ])('with %s is 422 UNPROCESSABLE_ENTITY', async (_, body) => {
      expect(await post(org, { ipAddress: '198.51.100.3', ...body })).toMatchObject({
        status: 422,
        body: { error: 'UNPROCESSABLE_ENTITY' },
      });
    });

    it('the minimum prefix length is configurable, and so is that no range may hold a non-public address', async () => {
      const { port } = await drawbridge.startApi({
        STATIC_IP_MIN_PREFIX_IPV4: '24',
        STATIC_IP_MIN_PREFIX_IPV6: '48',
        ALLOW_PRIVATE_ADDRESSES: 'false',
      });
      const strict = new ApiClient(`http://127.0.0.1:${port}/api/v1`).as(org.admin.identity);
      const statusOf = async (ipAddress: string): Promise<number> => {
        const body = { label: 'Office', ipAddress, resourceIds: [org.resourceIds[0]] };
        return (await strict.post('/static-ip-rules', body)).status;
      };
      const wide = ['198.51.101.0/24', '198.51.100.0/23', '2400:1:1::/48', '2400:2::/47'];
      expect(await Promise.all(wide.map(statusOf))).toEqual([201, 422, 201, 422]);
      const special = ['198.18.7.0/24', '240.0.0.1', '2002:808:808::/48'];
      expect(await Promise.all(special.map(statusOf))).toEqual([422, 422, 422]);
    });

    it('a range that overlaps a special range is refused, naming that range', async () => {
      const { body } = await post(org, { ipAddress: '169.0.0.0/8' });
      expect(body).toMatchObject({
        message: 'ipAddress shares addresses with 169.254.0.0/16, which is link-local',
      });
    });

    it('with a missing or another organization’s resource is 404 NOT_FOUND, and nothing is kept', async () => {
      for (const id of [randomUUID(), other.resourceIds[0]!]) {
        expect(
          await post(org, {
            label: 'nothing',
            ipAddress: '198.51.100.4',
            resourceIds: [org.resourceIds[0], id],
          }),
        ).toMatchObject({ status: 404, body: { error: 'NOT_FOUND' } });
      }
      const list = await org.admin.expect(200, org.admin.get<StaticIpRule[]>('/static-ip-rules'));
      expect(list.filter((rule) => rule.label === 'nothing')).toEqual([]);
    });
  });

  it('an entry that the provider refuses is FAILED with its message, and the rule is PARTIAL', async () => {
    await drawbridge.cloud.fault({
      kind: 'quota',
      target: group(2),
      operation: 'AuthorizeSecurityGroupIngress',
      count: 3,
    });
    const { id } = await created({ ipAddress: '198.51.100.20', resourceIds: org.resourceIds.slice(2, 4) });
    const rule = await reaches(id, 'PARTIAL');
    expect(rule.resources.map((entry) => entry.status)).toEqual(['FAILED', 'APPLIED']);
    expect(rule.resources[0]!.errorMessage).toMatch(/limit|maximum|rules/i);
    expect(await listIds('PARTIAL')).toEqual([id]);

    const again = await org.admin.patch<StaticIpRule>(`/static-ip-rules/${id}`, {
      resourceIds: org.resourceIds.slice(2, 4),
    });
    expect(again.body.status).toBe('PENDING');
    await reaches(id, 'ACTIVE');
  });

  it('an entry that the provider refuses stays when those that were closed are cleared away', async () => {
    await drawbridge.cloud.fault({ kind: 'quota', target: group(4), count: 3 });
    const { id } = await created({ ipAddress: '198.51.100.22', resourceIds: [org.resourceIds[4]] });
    const { resources } = await reaches(id, 'FAILED');
    const { id: closed } = await created({ ipAddress: '198.51.100.23', resourceIds: [org.resourceIds[3]] });
    await org.admin.expect(204, org.admin.delete(`/static-ip-rules/${closed}`));
    await until('the closed one is cleared away', async () => {
      const left = await drawbridge.query('SELECT FROM resource_ips WHERE static_ip_rule_id = $1', [closed]);
      return left.length === 0;
    });
    expect((await reaches(id, 'FAILED')).resources).toEqual(resources);
    expect(await listIds('FAILED')).toEqual([id]);
  });

  describe('PATCH /static-ip-rules/{id}', () => {
    it('revokes what the list leaves out, applies what is new, keeps the rest in place', async () => {
      const { id } = await created({ ipAddress: '198.51.100.31', resourceIds: org.resourceIds.slice(0, 2) });
      await reaches(id, 'ACTIVE');
      const { body } = await org.admin.patch<StaticIpRule>(`/static-ip-rules/${id}`, {
        resourceIds: org.resourceIds.slice(1, 4),
      });
      expect(body.resources.map((entry) => entry.status)).toEqual(['APPLIED', 'PENDING', 'PENDING']);
      await reaches(id, 'ACTIVE');
      await until('the first is closed', async () => !(await isOpen(group(0), '198.51.100.31')));
      const events = (await drawbridge.cloud.timeline()).filter(
        (entry) => entry.address === '198.51.100.31' && entry.target === group(1),
      );
      expect(events.map((entry) => entry.event)).toEqual(['opened']);
    });

    it('with an empty list is 422, with another organization’s resource 404, with a null label 400', async () => {
      const { id } = await created({ ipAddress: '198.51.100.32' });
      const statusOf = async (body: object): Promise<number> =>
        (await org.admin.patch(`/static-ip-rules/${id}`, body)).status;
      expect(await statusOf({ resourceIds: [] })).toBe(422);
      expect(await statusOf({ resourceIds: other.resourceIds })).toBe(404);
      expect(await statusOf({ label: null })).toBe(400);
    });
  });

  describe('GET and DELETE', () => {
    it('lists newest first, by page, the organization’s own only', async () => {
      await created({ ipAddress: '198.51.100.40', label: 'first' });
      await created({ ipAddress: '198.51.100.41', label: 'second' });
      const page = await org.admin.get<StaticIpRule[]>('/static-ip-rules?page=0&size=2');
      expect(page.body.map((rule) => rule.label)).toEqual(['second', 'first']);
      expect(Number(page.headers.get('x-total-count'))).toBeGreaterThan(2);
      expect(page.headers.get('link')).toContain('rel="next"');
      const theirs = await other.admin.expect(200, other.admin.get<StaticIpRule[]>('/static-ip-rules'));
      expect(theirs.filter((rule) => rule.label === 'first')).toEqual([]);
    });

    it('DELETE answers 204, leaves the API at once and the cloud soon after', async () => {
      const { id } = await created({ ipAddress: '198.51.100.42' });
      await reaches(id, 'ACTIVE');
      expect(await org.admin.delete(`/static-ip-rules/${id}`)).toMatchObject({ status: 204, body: null });
      expect((await org.admin.get(`/static-ip-rules/${id}`)).status).toBe(404);
      await until('it is closed', async () => !(await isOpen(group(0), '198.51.100.42')));
    });

    it('when a resource is deleted its entry leaves the rule; the others stay open', async () => {
      const own = await organization(drawbridge, sshTo([6, 7]));
      const [gone, kept] = own.resourceIds;
      const { id } = await staticIpRule(own, { ipAddress: '198.51.100.44', resourceIds: own.resourceIds });
      const rule = (): Promise<StaticIpRule> =>
        own.admin.expect(200, own.admin.get<StaticIpRule>(`/static-ip-rules/${id}`));
      await until('it is open everywhere', async () => (await rule()).status === 'ACTIVE');
      await own.admin.expect(204, own.admin.delete(`/resources/${gone}`));
      expect((await rule()).resources.map(({ resourceId }) => resourceId)).toEqual([kept]);
      await until('its entry is closed', async () => !(await isOpen(group(6), '198.51.100.44')));
      expect(await isOpen(group(7), '198.51.100.44')).toBe(true);
      expect((await rule()).status).toBe('ACTIVE');
    });
  });

  it('writes audit records of requests and of their outcome', async () => {
    const { id } = await created({ ipAddress: '198.51.100.50' });
    await reaches(id, 'ACTIVE');
    await org.admin.patch(`/static-ip-rules/${id}`, { label: 'renamed' });
    await org.admin.delete(`/static-ip-rules/${id}`);
    const records = await drawbridge.query<{ event_type: string; actor_type: string }>(
      'SELECT event_type, actor_type FROM audit_records WHERE resource_id = $1 ORDER BY sequence',
      [id],
    );
    expect(records.map((record) => `${record.event_type} ${record.actor_type}`)).toEqual([
      'STATIC_IP_RULE_CREATED USER',
      'STATIC_IP_RULE_APPLIED SYSTEM',
      'STATIC_IP_RULE_UPDATED USER',
      'STATIC_IP_RULE_DELETED USER',
    ]);
  });
});
