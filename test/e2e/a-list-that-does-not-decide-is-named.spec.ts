import { ownOrganization } from '../builders/accounts/organization';
import { verifiedService, type ServiceType } from '../builders/resources/services';
import { SWITCHES, switchedBack } from '../conformance/switches';
import { Drawbridge } from '../harness/product/drawbridge';
import { until } from '../harness/until';

interface Cluster {
  readonly publicAccessCidrs: readonly string[];
}
interface Attention {
  readonly kind: string;
  readonly message: string;
}

const CLUSTER = 'arn:aws:eks:eu-central-1:123456789012:cluster/simulated-2';
const OURS = '203.0.113.44';

describe('While a session is open', () => {
  const drawbridge = Drawbridge.shared();
  const org = ownOrganization(drawbridge);

  // an endpoint of EKS whose list was emptied has one again as soon as an address is added to it
  const switches = SWITCHES.filter(
    ({ resourceType, keepsList }) =>
      resourceType === 'KEY_VAULT' || (keepsList && /^(SQL_SERVER|EKS_CLUSTER)$/.test(resourceType)),
  );
  it.each(switches.map((given) => [given.what, given.resourceType, given] as const))(
    '%s of %s is switched: the next comparison shows it',
    async (_, __, given) => {
      const { cloud } = drawbridge;
      const provider = given.resourceType === 'EKS_CLUSTER' ? 'AWS' : 'AZURE';
      const resourceId = await verifiedService(org, given.resourceType as ServiceType);
      const { id } = await org.opened({ resourceIds: [resourceId], ipv4Address: '203.0.113.31' });
      const before = await cloud.objects(provider);
      const switched = given.switched(before);
      await cloud.changeObjects(provider, switched);
      await org.admin.posted(`/resources/${resourceId}/reconcile`);
      const { resourceIps } = await until('it is not ACTIVE', async () => {
        const session = await org.session(id);
        return session.status === 'PARTIAL' && session;
      });
      expect(resourceIps[0]).toMatchObject({
        status: 'PENDING',
        errorMessage: expect.stringMatching(given.message) as string,
      });
      await cloud.changeObjects(provider, switchedBack(switched, before));
      await org.admin.posted(`/resources/${resourceId}/reconcile`);
      await org.reaches(id, 'ACTIVE');
      await org.closed(id);
    },
  );

  it('the last other entry of an EKS endpoint is removed: ours stays, and is reported', async () => {
    const { cloud } = drawbridge;
    const listed = async (): Promise<readonly string[]> =>
      ((await cloud.objects('AWS')) as { clusters: Record<string, Cluster> }).clusters[CLUSTER]!
        .publicAccessCidrs;
    const resourceId = await verifiedService(org, 'EKS_CLUSTER', CLUSTER);
    const { id } = await org.opened({ resourceIds: [resourceId], ipv4Address: OURS });
    const { clusters } = (await cloud.objects('AWS')) as { clusters: Record<string, Cluster> };
    const alone = { ...clusters[CLUSTER], publicAccessCidrs: [`${OURS}/32`] };
    await cloud.changeObjects('AWS', { rules: [], lists: [], sets: {}, clusters: { [CLUSTER]: alone } });
    await org.admin.posted(`/sessions/${id}/stop`);
    const message = await until('its removal is refused', async () => {
      const [address] = (await org.session(id)).resourceIps;
      return address?.status === 'REMOVING' && address.errorMessage;
    });
    expect(message).toContain('An empty list lets everybody in');
    // as after the ten minutes that an update may take, and what is allowed besides
    await drawbridge.query(
      `UPDATE rules SET unwanted_since = unwanted_since - interval '660 seconds' WHERE address = $1`,
      [`${OURS}/32`],
    );
    const reported = await until('it is overdue', async () => {
      const { body } = await org.admin.get<Attention[]>('/attention');
      return body.find(({ kind }) => kind === 'RULE_OVERDUE');
    });
    expect(reported.message).toBe(message);
    expect(await listed()).toEqual([`${OURS}/32`]);
    await cloud.addUnmanaged({
      target: CLUSTER,
      address: '198.51.100.9',
      protocol: 'all',
      fromPort: 0,
      toPort: 0,
    });
    await drawbridge.query(`UPDATE rules SET due_at = now() WHERE address = $1`, [`${OURS}/32`]);
    await org.reaches(id, 'CANCELLED');
    expect(await listed()).toEqual(['198.51.100.9/32']);
    const everybody = (await cloud.timeline()).filter(
      ({ target, address }) => target === CLUSTER && address === '0.0.0.0/0',
    );
    expect(everybody).toEqual([]);
  });
});
