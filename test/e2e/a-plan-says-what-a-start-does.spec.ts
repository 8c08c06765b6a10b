import type { Schemas } from '#client';
import type { ApiFailure } from '../builders/accounts/accounts';
import { colleague } from '../builders/accounts/colleague';
import { group, ownOrganization, sshTo } from '../builders/accounts/organization';
import { staticIpRule, staticIpRuleReaches } from '../builders/resources/static-ip-rules';
import type { Session } from '../harness/product/api-client';
import { containing } from '../harness/matching';
import { Drawbridge } from '../harness/product/drawbridge';
import { until } from '../harness/until';

type Plan = Schemas['SessionPlanDto'];

/** POST /sessions/plan runs the plan and the guard of a start, and starts nothing. */
describe('A plan', () => {
  const drawbridge = Drawbridge.shared();
  const org = ownOrganization(drawbridge, sshTo([4, 5]));
  const other = ownOrganization(drawbridge, sshTo([4]));

  const plan = (body: object, client = org.admin): Promise<Plan> =>
    client.posted<Plan>('/sessions/plan', body);
  const outcomes = ({ resources }: Plan): string[] =>
    resources.flatMap(({ rules }) => rules.map(({ outcome }) => outcome));
  const written = async (): Promise<unknown[]> =>
    drawbridge.query(
      `SELECT (SELECT count(*)::int FROM sessions WHERE organization_id = $1) AS sessions,
         (SELECT count(*)::int FROM resource_ips WHERE organization_id = $1) AS addresses,
         (SELECT count(*)::int FROM rules WHERE address = $2) AS rules,
         (SELECT count(*)::int FROM audit_records WHERE organization_id = $1 AND actor_type <> 'SYSTEM') AS records`,
      [org.organizationId, '203.0.113.91/32'],
    );

  it('opens what the start opens, for as long, and writes nothing', async () => {
    const body = { ipv4Address: '203.0.113.91', durationHours: 2 };
    const before = await written();
    const planned = await plan(body);
    expect(await written()).toEqual(before);
    expect(planned).toMatchObject({ refusal: null, ipv4Address: '203.0.113.91', durationHours: 2 });
    expect(outcomes(planned)).toEqual(['OPENS', 'OPENS']);
    const session = await org.started(body);
    const { resourceIps } = await org.reaches(session.id, 'ACTIVE');
    const names = (of: readonly { resourceName: string }[]): string[] => of.map((one) => one.resourceName);
    expect(names(resourceIps)).toEqual(names(planned.resources));
    expect((await plan(body)).refusal).toMatchObject({ status: 409, message: containing(session.id) });
    expect(outcomes(await plan({ ...body, holder: 'job-2' }))).toEqual(['SHARED', 'SHARED']);
    expect(outcomes(await plan({ ipv4Address: '203.0.113.91' }, other.admin))).toEqual(['OPENS']);
    const moved = await plan({ ipv4Address: '203.0.113.92', replaces: session.id });
    expect(moved).toMatchObject({ refusal: null, closes: [{ address: '203.0.113.91/32' }, {}] });
    await org.admin.posted(`/sessions/${session.id}/stop`);
    await org.reaches(session.id, 'CANCELLED');
  });

  it('says what a start that names no resource leaves out, and the start says it', async () => {
    const [first, second] = org.resourceIds as [string, string];
    const body = { ipv4Address: '203.0.113.98' };
    await org.admin.patched(`/resources/${second}`, { isActive: false });
    const { name } = (await org.admin.get<{ name: string }>(`/resources/${second}`)).body;
    const inactiveResources = { total: 1, sample: [name] };
    expect(await plan(body)).toMatchObject({ refusal: null, inactiveResources });
    expect(await plan({ ...body, resourceIds: [first] })).toMatchObject({ inactiveResources: null });
    const path = '/sessions?waitSeconds=5';
    const started = await org.admin.posted<Session>(path, body);
    expect(started).toMatchObject({ inactiveResources });
    await org.admin.posted(`/sessions/${started.id}/stop`);
    await org.admin.patched(`/resources/${first}`, { isActive: false });
    const message = 'None of your resources is active: each one is once it is verified';
    expect((await plan(body)).refusal).toMatchObject({ message });
    for (const id of [first, second]) await org.admin.patched(`/resources/${id}`, { isActive: true });
  });

  it('shares what a static IP rule lets in', async () => {
    const ipAddress = '203.0.113.95';
    const { id } = await staticIpRule(org, { ipAddress, resourceIds: org.resourceIds });
    await staticIpRuleReaches(org, id, 'ACTIVE');
    expect(outcomes(await plan({ ipv4Address: ipAddress }))).toEqual(['SHARED', 'SHARED']);
    await org.admin.deleted(`/static-ip-rules/${id}`);
  });

  it('names the rule of others that lets the address in already', async () => {
    const rule = { target: group(5), address: '198.51.100.0/24', protocol: 'tcp', fromPort: 22, toPort: 22 };
    await drawbridge.cloud.addUnmanaged({ ...rule, description: 'office' });
    await org.admin.posted(`/resources/${org.resourceIds[1]!}/reconcile`);
    const found = await until('the comparison has found the rule', async () => {
      const planned = await plan({ ipv4Address: '198.51.100.7', resourceIds: [org.resourceIds[1]] });
      return outcomes(planned)[0] === 'ALREADY_OPEN' && planned;
    });
    expect(found.resources[0]!.rules[0]!.by).toContain('198.51.100.0/24 tcp 22');
  });

  it('is refused with the words of the start', async () => {
    const member = await colleague(org);
    const strict = await org.admin.created('/roles', { name: 'Strict', approvals: 1 });
    await org.admin.posted(`/roles/${strict.id}/members`, { addUserIds: [member.id] });
    const bodies = [
      { resourceIds: other.resourceIds },
      { resourceNames: ['nothing'] },
      { durationHours: 25 },
      { replaces: strict.id },
      { accessRequestId: strict.id },
      { breakGlass: true, reason: 'INC-1' },
    ];
    for (const body of bodies) {
      const asked = { ipv4Address: '203.0.113.93', ...body };
      const { refusal } = await plan(asked, member.client);
      const { status, body: refused } = await member.client.post<ApiFailure>('/sessions', asked);
      const { error, message } = refused;
      expect(refusal).toMatchObject({ status, error, message });
    }
    expect((await org.admin.post('/sessions/plan', { ipv4Address: '1.2.3' })).status).toBe(400);
    expect((await org.admin.post('/sessions', { dryRun: true })).status).toBe(400);
  });

  it('shows what has to be approved, and by whom', async () => {
    const member = await colleague(org, []);
    const members = { resourceIds: [org.resourceIds[0]], userIds: [member.id] };
    const role = { name: 'Production', approvals: 1, ...members };
    const { id } = await org.admin.created('/roles', role);
    const planned = await plan({ ipv4Address: '203.0.113.94', reason: 'INC-2' }, member.client);
    const refusal = { status: 403, error: 'Approval required' };
    expect(planned).toMatchObject({ approvalsNeeded: 1, refusal });
    expect(outcomes(planned)).toEqual(['OPENS']);
    await org.admin.patched(`/roles/${id}`, { maxSessionDurationHours: 3 });
    const shorter = await plan({ ipv4Address: '203.0.113.94' }, member.client);
    expect(shorter).toMatchObject({ durationHours: 1, maxDurationHours: 3 });
  });
});
