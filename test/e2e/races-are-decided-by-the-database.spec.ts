import { group, ownOrganization } from '../builders/accounts/organization';
import { Drawbridge } from '../harness/product/drawbridge';
import { until } from '../harness/until';

describe('Races are decided by the database', () => {
  const drawbridge = Drawbridge.shared();
  const org = ownOrganization(drawbridge);

  it('of many concurrent starts exactly one gets the address, the others get 409', async () => {
    const answers = await Promise.all(
      Array.from({ length: 12 }, () => org.start({ ipv4Address: '203.0.113.80' })),
    );
    expect(answers.map((answer) => answer.status).toSorted((a, b) => a - b)).toEqual([
      200,
      ...Array<number>(11).fill(409),
    ]);
  });

  it('a session stopped before any call is CANCELLED without a cloud call', async () => {
    await drawbridge.worker.stop('SIGKILL');
    const { id } = await org.started({ ipv4Address: '203.0.113.82' });
    await org.admin.posted(`/sessions/${id}/stop`);
    await drawbridge.startWorker();
    const ended = await org.reaches(id, 'CANCELLED');
    expect(ended.resourceIps[0]!.status).toBe('REMOVED');
    const seen = (await drawbridge.cloud.timeline()).filter((entry) => entry.address === '203.0.113.82');
    expect(seen).toEqual([]);
  });

  it('a verification does not apply to a resource that was moved meanwhile', async () => {
    const resource = await org.admin.created<{ id: string }>('/resources', {
      name: 'moving',
      credentialId: org.credentialId,
      provider: 'AWS',
      resourceType: 'SECURITY_GROUP',
      resourceIdentifier: group(2),
      region: 'eu-central-1',
      config: { port: 22 },
    });
    const path = `/resources/${resource.id}`;
    await drawbridge.cloud.fault({
      kind: 'slow',
      target: group(2),
      operation: 'DescribeSecurityGroups',
      delayMs: 1500,
      count: 1,
    });
    const calls = async (): Promise<number> =>
      (await drawbridge.cloud.calls()).filter((call) => call.target === group(2)).length;
    const verifying = org.admin.post(`${path}/verify`);
    await until('the cloud is asked', async () => (await calls()) > 0);
    await org.admin.expect(200, org.admin.patch(path, { resourceIdentifier: group(3) }));
    expect((await verifying).status).toBe(200);
    expect((await org.admin.get(path)).body).toMatchObject({
      resourceIdentifier: group(3),
      isActive: false,
      lastVerifiedAt: null,
    });
  });
});
