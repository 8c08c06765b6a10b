import { ownOrganization } from '../builders/accounts/organization';
import { verifiedService } from '../builders/resources/services';
import { Drawbridge } from '../harness/product/drawbridge';

/** The simulated AWS has five lists for IPv4 addresses, and then one for IPv6. */
const listId = (index: number): string => `pl-0123456789abcdef${index}`;

describe('Sessions of both IP versions on AWS prefix lists, which hold one', () => {
  const drawbridge = Drawbridge.shared();
  const org = ownOrganization(drawbridge);

  const stop = async (id: string): Promise<void> => {
    await org.closed(id);
  };

  it('are ACTIVE with a list of each: what a list cannot hold is skipped', async () => {
    const [ofIpv4, ofIpv6] = [listId(4), listId(5)];
    const resourceIds = [
      await verifiedService(org, 'PREFIX_LIST', ofIpv4),
      await verifiedService(org, 'PREFIX_LIST', ofIpv6),
    ];
    const ipv4Address = '203.0.113.11';
    const ipv6Address = '2001:db8::11';
    const { id } = await org.started({ resourceIds, ipv4Address, ipv6Address });
    const { resourceIps, skippedIps } = await org.reaches(id, 'ACTIVE');
    expect(resourceIps.map(({ ipAddress, status }) => `${ipAddress} ${status}`).toSorted()).toEqual([
      `${ipv6Address} APPLIED`,
      `${ipv4Address} APPLIED`,
    ]);
    expect(skippedIps).toHaveLength(2);
    expect(skippedIps).toContainEqual({
      resourceId: resourceIds[0],
      resourceName: `PREFIX_LIST ${ofIpv4}`,
      ipVersion: 6,
      ipAddress: ipv6Address,
      reason: `${ofIpv4} is a list of IPv4 addresses: ${ipv6Address}/128 cannot be in it`,
    });
    await stop(id);
    const ended = await org.session(id);
    expect(ended.resourceIps.map(({ status }) => status)).toEqual(['REMOVED', 'REMOVED']);
    expect(ended.skippedIps).toEqual(skippedIps);
    for (const list of [ofIpv4, ofIpv6]) expect(await drawbridge.cloud.rules(list)).toEqual([]);
  });

  it('are PARTIAL where no list can hold an address: it is not skipped, and says why', async () => {
    const list = listId(5);
    const resourceIds = [await verifiedService(org, 'PREFIX_LIST', list)];
    const addresses = { ipv4Address: '203.0.113.12', ipv6Address: '2001:db8::12' };
    const { id } = await org.started({ resourceIds, ...addresses });
    const { resourceIps, skippedIps } = await org.reaches(id, 'PARTIAL');
    expect(resourceIps).toContainEqual(
      expect.objectContaining({
        status: 'FAILED',
        errorMessage: `${list} is a list of IPv6 addresses: 203.0.113.12/32 cannot be in it`,
      }),
    );
    expect(skippedIps).toBeUndefined();
    await stop(id);
    expect(await drawbridge.cloud.rules(list)).toEqual([]);
  });
});
