import { ownOrganization, type Organization } from '../builders/accounts/organization';
import { Drawbridge } from '../harness/product/drawbridge';
import { until } from '../harness/until';

const LIST_OF_AWS = 'pl-6da54004';

interface Created {
  readonly id: string;
}

/** The simulated AWS has five lists for IPv4 addresses, and then one for IPv6. */
const listId = (index: number): string => `pl-0123456789abcdef${index}`;

/** Addresses are added to a managed prefix list and removed in time, next to unmanaged entries. */
describe('Sessions on an AWS prefix list', () => {
  const drawbridge = Drawbridge.shared();
  const org = ownOrganization(drawbridge);
  const other = ownOrganization(drawbridge);

  const prefixList = async (of: Organization, resourceIdentifier: string): Promise<string> => {
    const { admin, roleId, credentialId } = of;
    const resource = await admin.created<Created>('/resources', {
      name: `AWS ${resourceIdentifier}`,
      provider: 'AWS',
      resourceType: 'PREFIX_LIST',
      resourceIdentifier,
      region: 'eu-central-1',
      credentialId,
      config: {},
    });
    await admin.posted(`/roles/${roleId}/resources/${resource.id}`);
    return resource.id;
  };
  const verified = async (of: Organization, resourceIdentifier: string): Promise<string> => {
    const id = await prefixList(of, resourceIdentifier);
    await of.admin.posted(`/resources/${id}/verify`);
    return id;
  };
  const entries = async (target: string): Promise<string[]> =>
    (await drawbridge.cloud.rules(target))
      .map(({ address, ours }) => `${address} ${ours ? 'ours' : 'unmanaged'}`)
      .toSorted();
  const byHand = (target: string, address: string): Promise<void> =>
    drawbridge.cloud.addUnmanaged({
      target,
      address,
      protocol: 'all',
      fromPort: 0,
      toPort: 0,
      description: 'office',
    });
  const stop = async (of: Organization, id: string): Promise<void> => {
    await of.admin.posted(`/sessions/${id}/stop`);
    await of.reaches(id, 'CANCELLED');
  };
  const bend = (target: string, kind: string, more: object = {}): Promise<void> =>
    drawbridge.cloud.fault({ target, operation: 'ModifyManagedPrefixList', kind, count: 1, ...more });

  it('a session adds its address to the list, and removes it when it is stopped', async () => {
    const list = listId(0);
    const resourceId = await verified(org, list);
    await byHand(list, '198.51.100.1');
    const { id } = await org.started({ resourceIds: [resourceId], ipv4Address: '203.0.113.1' });
    const { resourceIps } = await org.reaches(id, 'ACTIVE');
    expect(resourceIps.map(({ providerRuleId }) => providerRuleId)).toEqual([`${list}/203.0.113.1/32`]);
    expect(await entries(list)).toEqual(['198.51.100.1 unmanaged', '203.0.113.1 ours']);
    await stop(org, id);
    expect(await entries(list)).toEqual(['198.51.100.1 unmanaged']);
  });

  it('an expired session leaves nothing in the list', async () => {
    const list = listId(0);
    const resourceId = await verified(org, list);
    const { id } = await org.started({ resourceIds: [resourceId], ipv4Address: '203.0.113.2' });
    await org.reaches(id, 'ACTIVE');
    await org.expire(id);
    await org.reaches(id, 'EXPIRED');
    expect(await entries(list)).not.toContain('203.0.113.2 ours');
  });

  it('two organizations that name a list share its entry until their last holder ends', async () => {
    const list = listId(1);
    const [mine, theirs] = await Promise.all([verified(org, list), verified(other, list.toUpperCase())]);
    const ipv4Address = '203.0.113.3';
    const first = await org.started({ resourceIds: [mine], ipv4Address });
    await org.reaches(first.id, 'ACTIVE');
    const second = await other.started({ resourceIds: [theirs], ipv4Address });
    await other.reaches(second.id, 'ACTIVE');
    expect(await entries(list)).toEqual([`${ipv4Address} ours`]);
    await stop(org, first.id);
    expect(await entries(list)).toEqual([`${ipv4Address} ours`]);
    await stop(other, second.id);
    expect(await entries(list)).toEqual([]);
  });

  it('a resource that is given another list moves its addresses there, during a session', async () => {
    const resourceId = await verified(org, listId(2));
    const { id } = await org.started({ resourceIds: [resourceId], ipv4Address: '203.0.113.4' });
    await org.reaches(id, 'ACTIVE');
    await org.admin.expect(
      200,
      org.admin.patch(`/resources/${resourceId}`, { resourceIdentifier: listId(3) }),
    );
    await until('the other list alone has the address', async () => {
      const [before, after] = await Promise.all([entries(listId(2)), entries(listId(3))]);
      return before.length === 0 && after.length === 1 && after[0] === '203.0.113.4 ours';
    });
    await stop(org, (await org.reaches(id, 'ACTIVE')).id);
    expect(await entries(listId(3))).toEqual([]);
  });

  it('an unmanaged address stays when the session ends', async () => {
    const list = listId(4);
    const resourceId = await verified(org, list);
    await byHand(list, '203.0.113.5');
    const { id } = await org.started({ resourceIds: [resourceId], ipv4Address: '203.0.113.5' });
    await org.reaches(id, 'ACTIVE');
    await stop(org, id);
    expect(await entries(list)).toEqual(['203.0.113.5 unmanaged']);
  });

  it.each([
    ['another hand changes the list just then', 'conflict', {}],
    ['AWS fails to carry out what it has taken', 'fail-later', {}],
    ['AWS asks to wait', 'throttle', { delayMs: 1000 }],
  ])('the address is added and removed when %s', async (_, kind, more) => {
    const list = listId(3);
    const resourceId = await verified(org, list);
    await bend(list, kind, more);
    const { id } = await org.started({ resourceIds: [resourceId], ipv4Address: '203.0.113.6' });
    await org.reaches(id, 'ACTIVE');
    expect(await entries(list)).toEqual(['203.0.113.6 ours']);
    await bend(list, kind, more);
    await org.admin.posted(`/sessions/${id}/stop`);
    await org.reaches(id, 'CANCELLED');
    expect(await entries(list)).toEqual([]);
  });

  it('a session is not CANCELLED while a stale read of the list hides its address', async () => {
    const list = listId(3);
    const resourceId = await verified(org, list);
    const { id } = await org.started({ resourceIds: [resourceId], ipv4Address: '203.0.113.9' });
    await org.reaches(id, 'ACTIVE');
    await drawbridge.cloud.fault({
      target: list,
      operation: 'DescribeManagedPrefixLists',
      kind: 'stale-read',
      delayMs: 600_000,
      seconds: 3,
    });
    await org.admin.posted(`/sessions/${id}/stop`);
    await org.reaches(id, 'CANCELLED');
    expect(await entries(list)).toEqual([]);
  });

  it('an address of the other IP version fails with a message; the rest of the session is applied', async () => {
    const list = listId(5);
    const resourceId = await verified(org, list);
    const { id } = await org.started({
      resourceIds: [resourceId],
      ipv4Address: '203.0.113.7',
      ipv6Address: '2001:db8::7',
    });
    const { resourceIps } = await org.reaches(id, 'PARTIAL');
    expect(resourceIps).toContainEqual(
      expect.objectContaining({
        status: 'FAILED',
        errorMessage: `${list} is a list of IPv6 addresses: 203.0.113.7/32 cannot be in it`,
      }),
    );
    expect(await entries(list)).toEqual(['2001:db8::7 ours']);
    await stop(org, id);
    expect(await entries(list)).toEqual([]);
  });

  it('a list of each IP version makes an ACTIVE dual-stack session: what a list cannot hold is skipped', async () => {
    const [ofIpv4, ofIpv6] = [listId(4), listId(5)];
    const resourceIds = [await verified(org, ofIpv4), await verified(org, ofIpv6)];
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
      resourceName: `AWS ${ofIpv4}`,
      ipVersion: 6,
      ipAddress: ipv6Address,
      reason: `${ofIpv4} is a list of IPv4 addresses: ${ipv6Address}/128 cannot be in it`,
    });
    await stop(org, id);
    const ended = await org.session(id);
    expect(ended.resourceIps.map(({ status }) => status)).toEqual(['REMOVED', 'REMOVED']);
    expect(ended.skippedIps).toEqual(skippedIps);
    expect([...(await entries(ofIpv4)), ...(await entries(ofIpv6))]).not.toContain(`${ipv4Address} ours`);
  });

  it('an address that no list of the session can hold is not skipped', async () => {
    const resourceIds = [await verified(org, listId(0)), await verified(org, listId(1))];
    const { id } = await org.started({
      resourceIds,
      ipv4Address: '203.0.113.12',
      ipv6Address: '2001:db8::12',
    });
    const { resourceIps, skippedIps } = await org.reaches(id, 'PARTIAL');
    expect(resourceIps.filter(({ status }) => status === 'FAILED')).toHaveLength(2);
    expect(skippedIps).toBeUndefined();
    await stop(org, id);
  });

  it('a full list fails further sessions with its maximum of entries', async () => {
    const list = listId(2);
    const resourceId = await verified(org, list);
    for (let index = 0; index < 60; index += 1) await byHand(list, `198.51.100.${index}`);
    const { id } = await org.started({ resourceIds: [resourceId], ipv4Address: '203.0.113.8' });
    const { resourceIps } = await org.reaches(id, 'FAILED');
    expect(resourceIps[0]!.errorMessage).toBe(
      `The list is full: 60 of 60 rules. ${list} is full: its maximum is 60 entries (MaxEntries)`,
    );
    expect(await entries(list)).toHaveLength(60);
  });

  it('a config with a port is refused', async () => {
    const resourceId = await prefixList(org, listId(0));
    expect(await org.admin.patch(`/resources/${resourceId}`, { config: { port: 443 } })).toMatchObject({
      status: 400,
      body: { error: 'VALIDATION_ERROR', message: expect.stringContaining('PREFIX_LIST') as unknown },
    });
  });

  it.each([
    [listId(9), 'InvalidPrefixListID.NotFound', 404],
    [LIST_OF_AWS, 'is managed by AWS', 400],
  ])('verify refuses %s: %s', async (identifier, words, status) => {
    const resourceId = await prefixList(org, identifier);
    const answer = await org.admin.post<object>(`/resources/${resourceId}/verify`);
    expect(answer.status).toBe(status);
    expect(JSON.stringify(answer.body)).toContain(words);
  });
});
