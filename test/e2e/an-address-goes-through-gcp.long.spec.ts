import { ownOrganization } from '../builders/accounts/organization';
import { verifiedService } from '../builders/resources/services';
import { Drawbridge } from '../harness/product/drawbridge';
import { until } from '../harness/until';

describe('Sessions on a Google VPC network', () => {
  const drawbridge = Drawbridge.shared();
  const org = ownOrganization(drawbridge, []);

  const openFor = async (address: string): Promise<string[]> =>
    (await drawbridge.cloud.rules('default', 'GCP'))
      .filter((rule) => rule.address === address)
      .map((rule) => `${rule.protocol} ${rule.fromPort} ${rule.ours ? 'ours' : 'unmanaged'}`)
      .toSorted();

  it('add one rule for all ports, which moves with the priority and the instances of its resource', async () => {
    const resourceId = await verifiedService(org, 'FIREWALL', 'default', { ports: [22, 5432] });
    const { id, resourceIps } = await org.opened({ ipv4Address: '203.0.113.4' });
    let { providerRuleId } = resourceIps[0]!;
    expect(providerRuleId).toMatch(/^drawbridge-[0-9a-f]{40}#\d+$/);
    expect(await openFor('203.0.113.4')).toEqual(['tcp 22 ours', 'tcp 5432 ours']);
    for (const config of [
      { port: 8443, targetTags: ['web'] },
      { port: 8443, priority: 900, targetServiceAccounts: ['db@p.iam.gserviceaccount.com'] },
    ]) {
      const before = providerRuleId;
      await org.admin.expect(200, org.admin.patch(`/resources/${resourceId}`, { config }));
      providerRuleId = await until('there is another rule, and it is the only one', async () => {
        const moved = await org.session(id);
        const now = moved.resourceIps[0]!.providerRuleId;
        const isMoved = moved.status === 'ACTIVE' && now !== before;
        return isMoved && (await openFor('203.0.113.4')).length === 1 && now;
      });
      expect(await openFor('203.0.113.4')).toEqual(['tcp 8443 ours']);
    }
    await org.closed(id);
    expect(await openFor('203.0.113.4')).toEqual([]);
  });
});
