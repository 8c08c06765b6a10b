import { ownOrganization } from '../builders/accounts/organization';
import { verifiedService } from '../builders/resources/services';
import { Drawbridge } from '../harness/product/drawbridge';

const CONFIG = '/vercel/v1/security/firewall/config';

/** What the engine knows of a list that cannot be marked. The list itself: test/conformance/vercel-guard.spec.ts */
describe('Sessions on Vercel', () => {
  const drawbridge = Drawbridge.shared({ worker: false });
  const org = ownOrganization(drawbridge);

  beforeAll(async () => {
    // no comparison but the ones that a test is about
    await drawbridge.startWorker({ RECONCILE_SECONDS: '600' });
  });

  const listOpen = async (project: string): Promise<string[]> =>
    (await drawbridge.cloud.rules(project, 'VERCEL'))
      .map(({ address, ours }) => `${address} ${ours ? 'ours' : 'unmanaged'}`)
      .toSorted();
  const ask = async (method: string, path: string, project: string, body?: object): Promise<unknown> => {
    const response = await fetch(`${drawbridge.cloud.url}${path}?projectId=${project}`, {
      method,
      headers: { authorization: 'Bearer simulated-vercel-token' },
      ...(body && { body: JSON.stringify(body) }),
    });
    return response.json();
  };
  const active = async (resourceId: string, ipv4Address: string): Promise<string> => {
    const { id } = await org.opened({ resourceIds: [resourceId], ipv4Address });
    return id;
  };

  it('a guard that was deleted is recreated with all recorded addresses', async () => {
    const project = 'prj_simulated4';
    const resourceId = await verifiedService(org, 'FIREWALL_RULE', project);
    const sessions = [await active(resourceId, '203.0.113.4'), await active(resourceId, '203.0.113.5')];
    const { rules } = (await ask('GET', `${CONFIG}/active`, project)) as { rules: { id: string }[] };
    await ask('PATCH', CONFIG, project, { action: 'rules.remove', id: rules[0]!.id, value: null });
    expect(await listOpen(project)).toEqual(['0.0.0.0/0 unmanaged', '::/0 unmanaged']);
    sessions.push(await active(resourceId, '203.0.113.6'));
    expect(await listOpen(project)).toEqual(['203.0.113.4 ours', '203.0.113.5 ours', '203.0.113.6 ours']);
    for (const id of sessions) {
      await org.closed(id);
    }
    expect(await listOpen(project)).toEqual([]);
  });

  it('a write in doubt is followed by a comparison, because it may land late and undo others', async () => {
    const project = 'prj_simulated5';
    const resourceId = await verifiedService(org, 'FIREWALL_RULE', project, { pathPrefix: '/late' });
    const comparedIn = async (): Promise<number> => {
      const [row] = await drawbridge.query<{ seconds: number }>(
        `SELECT extract(epoch FROM reconcile_due_at - now())::float8 AS seconds FROM targets
         WHERE key = $1`,
        [`VERCEL:firewall-rule:${project}?path=%2Flate`],
      );
      return row!.seconds;
    };
    await active(resourceId, '203.0.113.8');
    await drawbridge.query(`UPDATE targets SET reconcile_due_at = now() + interval '1 hour'`);
    await drawbridge.cloud.fault({
      provider: 'VERCEL',
      target: project,
      operation: 'updateFirewallConfig',
      kind: 'timeout-after-success',
      count: 1,
    });
    await active(resourceId, '203.0.113.9');
    // or it was already, and the next one follows in 45 seconds
    expect(await comparedIn()).toBeLessThan(60);
    expect(await listOpen(project)).toEqual(['203.0.113.8 ours', '203.0.113.9 ours']);
  });
});
