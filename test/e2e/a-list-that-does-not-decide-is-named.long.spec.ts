import { ownOrganization } from '../builders/accounts/organization';
import { verifiedService, type ServiceType } from '../builders/resources/services';
import { SWITCHES, switchedBack } from '../conformance/switches';
import { Drawbridge } from '../harness/product/drawbridge';
import { until } from '../harness/until';

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
});
