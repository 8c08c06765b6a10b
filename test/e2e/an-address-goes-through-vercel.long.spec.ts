import { ownOrganization, type Organization } from '../builders/accounts/organization';
import { Drawbridge } from '../harness/product/drawbridge';
import type { OpenRule } from '../harness/product/simulator-client';
import { until } from '../harness/until';

const CONFIG = '/vercel/v1/security/firewall/config';

interface Created {
  readonly id: string;
}

/** Addresses are allowed by the firewall of a project and removed in time; no other address is allowed. */
describe('Sessions on Vercel', () => {
  const drawbridge = Drawbridge.shared({ worker: false });
  const org = ownOrganization(drawbridge);
  const other = ownOrganization(drawbridge);

  beforeAll(async () => {
    // no comparison but the ones that a test is about
    await drawbridge.startWorker({ RECONCILE_SECONDS: '600' });
  });

  const vercel = async (of: Organization, project: string, config: object): Promise<string> => {
    const { admin, roleId } = of;
    const credential = await admin.created<Created & { hints: object }>('/credentials', {
      name: 'Simulated Vercel',
      provider: 'VERCEL',
      credentialType: 'TOKEN',
      credentialData: { token: 'simulated-vercel-token', teamId: 'team_simulated' },
    });
    expect(credential.hints).toEqual({ teamId: 'team_simulated' });
    const resource = await admin.created<Created>('/resources', {
      name: `Vercel ${project}`,
      provider: 'VERCEL',
      resourceType: 'FIREWALL_RULE',
      resourceIdentifier: project,
      credentialId: credential.id,
      config,
    });
    await admin.posted(`/roles/${roleId}/resources/${resource.id}`);
    return resource.id;
  };
  const verified = async (of: Organization, project: string, config: object = {}): Promise<string> => {
    const id = await vercel(of, project, config);
    await of.admin.posted(`/resources/${id}/verify`);
    return id;
  };
  const open = async (project: string): Promise<string[]> => {
    const response = await fetch(`${drawbridge.cloud.url}/_rules?provider=VERCEL&target=${project}`);
    return ((await response.json()) as OpenRule[])
      .map((rule) => `${rule.address} ${rule.ours ? 'ours' : 'unmanaged'}`)
      .toSorted();
  };
  const ask = async (method: string, path: string, project: string, body?: object): Promise<unknown> => {
    const response = await fetch(`${drawbridge.cloud.url}${path}?projectId=${project}`, {
      method,
      headers: { authorization: 'Bearer simulated-vercel-token' },
      ...(body && { body: JSON.stringify(body) }),
    });
    return response.json();
  };
  const rules = async (project: string): Promise<{ id: string; conditionGroup: object[] }[]> =>
    ((await ask('GET', `${CONFIG}/active`, project)) as { rules: { id: string; conditionGroup: object[] }[] })
      .rules;
  const stop = async (of: Organization, id: string): Promise<void> => {
    await of.admin.posted(`/sessions/${id}/stop`);
    await of.reaches(id, 'CANCELLED');
  };

  it('a session lets its addresses in, and keeps everybody out when it is stopped', async () => {
    const project = 'prj_simulated1';
    const resourceId = await verified(org, project);
    const { id } = await org.started({
      resourceIds: [resourceId],
      ipv4Address: '203.0.113.1',
      ipv6Address: '2001:db8::1',
    });
    const active = await org.reaches(id, 'ACTIVE');
    const entries = active.resourceIps.map((ip) => /^rule_\w+#(.+)$/.exec(ip.providerRuleId!)?.[1]);
    expect(new Set(entries)).toEqual(new Set(['203.0.113.1/32', '2001:db8::1/128']));
    expect(await open(project)).toEqual(['2001:db8::1 ours', '203.0.113.1 ours']);
    await stop(org, id);
    expect(await open(project)).toEqual([]);
    expect((await rules(project)).map(({ conditionGroup }) => conditionGroup)).toEqual([
      [{ conditions: [{ type: 'path', op: 'pre', value: '/' }] }],
    ]);
  });

  it('two organizations that name a host of a project share its list until their last holder ends', async () => {
    const project = 'prj_simulated2';
    const [mine, theirs] = await Promise.all([
      verified(org, project, { hostname: 'admin.example.com' }),
      verified(other, project, { hostname: 'Admin.Example.com' }),
    ]);
    const first = await org.started({ resourceIds: [mine], ipv4Address: '203.0.113.2' });
    await org.reaches(first.id, 'ACTIVE');
    const second = await other.started({ resourceIds: [theirs], ipv4Address: '203.0.113.2' });
    await other.reaches(second.id, 'ACTIVE');
    expect(await rules(project)).toHaveLength(1);
    await stop(org, first.id);
    expect(await open(project)).toEqual(['203.0.113.2 ours']);
    await stop(other, second.id);
    expect(await open(project)).toEqual([]);
  });

  it('a changed path is guarded, and the old one closed, during a session', async () => {
    const project = 'prj_simulated3';
    const resourceId = await verified(org, project, { pathPrefix: '/admin' });
    const { id } = await org.started({ resourceIds: [resourceId], ipv4Address: '203.0.113.3' });
    await org.reaches(id, 'ACTIVE');
    await org.admin.expect(
      200,
      org.admin.patch(`/resources/${resourceId}`, { config: { pathPrefix: '/internal' } }),
    );
    await until('the new path alone lets the address in', async () => {
      const groups = (await rules(project)).map(({ conditionGroup }) => JSON.stringify(conditionGroup));
      return groups.length === 2 && !groups[0]!.includes('203.0.113.3') && groups[1]!.includes('203.0.113.3');
    });
    await org.reaches(id, 'ACTIVE');
  });

  it('a guard that was deleted is recreated with all recorded addresses', async () => {
    const project = 'prj_simulated4';
    const resourceId = await verified(org, project);
    const sessions = await Promise.all(
      ['203.0.113.4', '203.0.113.5'].map((ipv4Address) =>
        org.started({ resourceIds: [resourceId], ipv4Address }),
      ),
    );
    for (const { id } of sessions) await org.reaches(id, 'ACTIVE');
    const [guard] = await rules(project);
    await ask('PATCH', CONFIG, project, { action: 'rules.remove', id: guard!.id, value: null });
    expect(await open(project)).toEqual(['0.0.0.0/0 unmanaged', '::/0 unmanaged']);
    const third = await org.started({ resourceIds: [resourceId], ipv4Address: '203.0.113.6' });
    await org.reaches(third.id, 'ACTIVE');
    expect(await open(project)).toEqual(['203.0.113.4 ours', '203.0.113.5 ours', '203.0.113.6 ours']);
    for (const { id } of [...sessions, third]) await stop(org, id);
    expect(await open(project)).toEqual([]);
  });

  it('an address that a late write left behind is found and removed', async () => {
    const project = 'prj_simulated5';
    const resourceId = await verified(org, project);
    const { id } = await org.started({ resourceIds: [resourceId], ipv4Address: '203.0.113.7' });
    await org.reaches(id, 'ACTIVE');
    const [guard] = await rules(project);
    await stop(org, id);
    const { id: ruleId, ...value } = guard as { id: string; conditionGroup: object[] };
    await ask('PATCH', CONFIG, project, { action: 'rules.update', id: ruleId, value });
    expect(await open(project)).toEqual(['203.0.113.7 ours']);
    await org.admin.posted(`/resources/${resourceId}/reconcile`);
    await until('it is taken out', async () => (await open(project)).length === 0);
  });

  it('a write in doubt is followed by a comparison, because it may land late and undo others', async () => {
    const project = 'prj_simulated5';
    const resourceId = await verified(org, project, { pathPrefix: '/late' });
    const comparedIn = async (): Promise<number> => {
      const [row] = await drawbridge.query<{ seconds: number }>(
        `SELECT extract(epoch FROM reconcile_due_at - now())::float8 AS seconds FROM targets
         WHERE key = $1`,
        [`VERCEL:firewall-rule:${project}?path=%2Flate`],
      );
      return row!.seconds;
    };
    const first = await org.started({ resourceIds: [resourceId], ipv4Address: '203.0.113.8' });
    await org.reaches(first.id, 'ACTIVE');
    await drawbridge.query(`UPDATE targets SET reconcile_due_at = now() + interval '1 hour'`);
    await drawbridge.cloud.fault({
      provider: 'VERCEL',
      target: project,
      operation: 'updateFirewallConfig',
      kind: 'timeout-after-success',
      count: 1,
    });
    const second = await org.started({ resourceIds: [resourceId], ipv4Address: '203.0.113.9' });
    await org.reaches(second.id, 'ACTIVE');
    // or it was already, and the next one follows in 45 seconds
    expect(await comparedIn()).toBeLessThan(60);
    expect(await open(project)).toEqual(['203.0.113.8 ours', '203.0.113.9 ours']);
  });

  it('a config with ports is refused', async () => {
    const resourceId = await vercel(org, 'prj_simulated1', {});
    expect(await org.admin.patch(`/resources/${resourceId}`, { config: { port: 443 } })).toMatchObject({
      status: 400,
      body: {
        error: 'VALIDATION_ERROR',
        message: expect.stringContaining('hostname, pathPrefix') as unknown,
      },
    });
  });

  it('an unknown project is reported with Vercel’s message', async () => {
    const resourceId = await vercel(org, 'prj_nowhere', {});
    const answer = await org.admin.post<object>(`/resources/${resourceId}/verify`);
    expect(answer).toMatchObject({ status: 404, body: { error: 'CLOUD_RESOURCE_NOT_FOUND' } });
    expect(JSON.stringify(answer.body)).toContain('not_found: Project not found');
  });
});
