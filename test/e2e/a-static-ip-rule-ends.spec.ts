import { newcomer, audited } from '../builders/accounts/people';
import { group, organization, sshTo, type Organization } from '../builders/accounts/organization';
import { postStaticIpRule, staticIpRule, staticIpRuleReaches } from '../builders/resources/static-ip-rules';
import type { Answer } from '../harness/product/api-client';
import { Drawbridge } from '../harness/product/drawbridge';
import { until } from '../harness/until';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const ahead = (ms: number): string => new Date(Date.now() + ms).toISOString();

describe('A static IP rule with an end', () => {
  const drawbridge = Drawbridge.shared();
  let org: Organization;
  let address = 0;

  beforeEach(async () => {
    org = await organization(drawbridge, sshTo([address]));
    address += 1;
  });

  const open = async (): Promise<string[]> =>
    (await drawbridge.cloud.rules(group(address - 1))).map((rule) => rule.address);
  const opened = async (): Promise<string> => {
    const { id } = await staticIpRule(org, { ipAddress: '198.51.100.7', expiresAt: ahead(DAY_MS) });
    await staticIpRuleReaches(org, id, 'ACTIVE');
    return id;
  };
  /** Its end comes in so many seconds: those that the API takes are minutes ahead. */
  const comes = (id: string, seconds: number): Promise<unknown> =>
    drawbridge.query(
      'UPDATE static_ip_rules SET expires_at = now() + make_interval(secs => $2) WHERE id = $1',
      [id, seconds],
    );
  const change = (id: string, body: object): Promise<Answer<{ message: string }>> =>
    org.admin.patch(`/static-ip-rules/${id}`, body);
  const read = <Body>(path: string): Promise<Body> => org.admin.expect(200, org.admin.get<Body>(path));
  const shown = (id: string): Promise<object> => read(`/static-ip-rules/${id}`);
  const causes = async (): Promise<string[]> => {
    const path = `/resources/${org.resourceIds[0]}/events`;
    const events = await read<{ kind: string; cause: string }[]>(path);
    return events.flatMap(({ kind, cause }) => (/OPENED|CLOSED/.test(kind) ? [cause] : [])).toReversed();
  };
  const closed = (): Promise<unknown> => until('it is closed', async () => (await open()).length === 0);

  it('is closed at its end, says where it was, and opens again with a later one or none', async () => {
    const id = await opened();
    await comes(id, 2);
    const rule = await staticIpRuleReaches(org, id, 'EXPIRED');
    await closed();
    expect(rule).toMatchObject({
      resources: [],
      closedOn: [{ resourceId: org.resourceIds[0], resourceName: expect.any(String) as string }],
    });
    await until('the ledger has it', async () => (await causes()).at(-1) === 'STATIC_RULE_EXPIRED');
    expect(await audited(drawbridge, org.organizationId, 'STATIC_IP_RULE_EXPIRED')).toMatchObject([
      { actorType: 'SYSTEM', resourceId: id, details: { ipAddress: '198.51.100.7' } },
    ]);
    expect(await read('/static-ip-rules?status=EXPIRED')).toMatchObject([{ id }]);
    const { status, body } = await change(id, { resourceIds: org.resourceIds });
    expect([status, body.message]).toEqual([422, expect.stringContaining('give a later expiresAt')]);
    expect((await change(id, { label: 'Old office' })).status).toBe(200);
    expect(await shown(id)).toMatchObject({ status: 'EXPIRED' });
    expect((await change(id, { expiresAt: ahead(DAY_MS) })).status).toBe(200);
    expect(await staticIpRuleReaches(org, id, 'ACTIVE')).toMatchObject({ closedOn: [] });
    expect(await open()).toEqual(['198.51.100.7']);
    expect(await causes()).toEqual(['STATIC_RULE_CREATED', 'STATIC_RULE_EXPIRED', 'STATIC_RULE_EXTENDED']);
    await comes(id, 0);
    await staticIpRuleReaches(org, id, 'EXPIRED');
    expect((await change(id, { expiresAt: null })).body).toMatchObject({ expiresAt: null });
    await staticIpRuleReaches(org, id, 'ACTIVE');
  });

  it('that comes in a lockdown is not opened by its lift, and nothing opens meanwhile', async () => {
    const bob = await newcomer(drawbridge, org.admin, { isOrgAdmin: true });
    const id = await opened();
    const going = await staticIpRule(org, { ipAddress: '198.51.100.8', expiresAt: ahead(DAY_MS) });
    await staticIpRuleReaches(org, going.id, 'ACTIVE');
    await org.admin.posted('/organization/lockdown', { reason: 'INC-12', staticRules: true });
    expect(await shown(id)).toMatchObject({ status: 'CLOSED' });
    await comes(id, 0);
    await staticIpRuleReaches(org, id, 'EXPIRED');
    expect((await change(id, { expiresAt: ahead(DAY_MS) })).status).toBe(403);
    await change(going.id, { expiresAt: ahead(2 * DAY_MS) });
    expect(await shown(going.id)).toMatchObject({ status: 'CLOSED' });
    await bob.client.expect(204, bob.client.delete('/organization/lockdown'));
    await staticIpRuleReaches(org, going.id, 'ACTIVE');
    expect(await shown(id)).toMatchObject({ status: 'EXPIRED' });
    expect(await open()).toEqual(['198.51.100.8']);
    await change(id, { expiresAt: ahead(DAY_MS) });
    await staticIpRuleReaches(org, id, 'ACTIVE');
  });

  it('that comes while no worker runs is overdue since then, and is closed by the next one', async () => {
    const id = await opened();
    await drawbridge.worker.stop();
    await comes(id, -120);
    expect(await shown(id)).toMatchObject({ status: 'ACTIVE' });
    expect(await read(`/resources/${org.resourceIds[0]}/rules`)).toMatchObject([{ isOverdue: true }]);
    await drawbridge.startWorker();
    await staticIpRuleReaches(org, id, 'EXPIRED');
    await closed();
  });

  it.each([
    ['too soon', ahead(4 * MINUTE_MS)],
    ['past', ahead(-MINUTE_MS)],
    ['too late', ahead(6 * 366 * DAY_MS)],
    ['no time', 'soon'],
  ])('%s is refused, and the field named', async (_, expiresAt) => {
    const { id } = await staticIpRule(org, { ipAddress: '198.51.100.7' });
    const refused = await postStaticIpRule(org, { ipAddress: '198.51.100.9', expiresAt });
    expect(refused).toMatchObject({
      status: 400,
      body: { message: expect.stringMatching(/^expiresAt /) as string },
    });
    expect((await change(id, { expiresAt })).status).toBe(400);
    expect(await shown(id)).toMatchObject({ expiresAt: null });
  });

  it('is needed soon: it is listed as what needs attention, and recorded once', async () => {
    const id = await opened();
    const listed = (): Promise<unknown[]> => read('/attention?kind=STATIC_RULE_ENDING');
    expect(await listed()).toMatchObject([{ severity: 'SOON', objectId: id }]);
    await drawbridge.query(`UPDATE static_ip_rules SET created_at = now() - interval '90 days'`);
    const recorded = (): Promise<unknown[]> =>
      audited(drawbridge, org.organizationId, 'STATIC_IP_RULE_EXPIRING');
    await until('it is recorded', async () => (await recorded()).length === 1);
    await change(id, { expiresAt: ahead(2 * DAY_MS) });
    await until('the new end is recorded', async () => (await recorded()).length === 2);
    await change(id, { expiresAt: ahead(30 * DAY_MS) });
    expect(await listed()).toEqual([]);
  });
});
