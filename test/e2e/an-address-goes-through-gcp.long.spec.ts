import { networkResource } from '../builders/resources/network-resource';
import { organization, ownOrganization } from '../builders/accounts/organization';
import { Drawbridge } from '../harness/product/drawbridge';
import { until } from '../harness/until';

/** The same promise on Google's VPC firewall rules. */
describe('Sessions on a Google VPC network', () => {
  const drawbridge = Drawbridge.shared();
  const org = ownOrganization(drawbridge, []);
  let resourceId: string;

  beforeAll(async () => {
    resourceId = await networkResource(org, { ports: [22, 5432] });
  });

  const openFor = async (address: string): Promise<string[]> => {
    const rules = await drawbridge.cloud.rules('default', 'GCP');
    return rules
      .filter((rule) => rule.address === address)
      .map((rule) => `${rule.protocol} ${rule.fromPort} ${rule.ours ? 'ours' : 'unmanaged'}`)
      .toSorted();
  };

  it('a session adds one rule for all its ports, and removes it when it is stopped', async () => {
    const { id } = await org.started({ ipv4Address: '203.0.113.1', ipv6Address: '2001:db8::1' });
    const active = await org.reaches(id, 'ACTIVE');
    expect(active.resourceIps.every((ip) => /^drawbridge-[0-9a-f]{40}#\d+$/.test(ip.providerRuleId!))).toBe(
      true,
    );
    for (const address of ['203.0.113.1', '2001:db8::1']) {
      expect(await openFor(address)).toEqual(['tcp 22 ours', 'tcp 5432 ours']);
    }
    await org.admin.posted(`/sessions/${id}/stop`);
    await org.reaches(id, 'CANCELLED');
    for (const address of ['203.0.113.1', '2001:db8::1']) expect(await openFor(address)).toEqual([]);
  });

  it('a session is ACTIVE only when the operation has ended: a failed one is retried', async () => {
    await drawbridge.cloud.fault({
      provider: 'GCP',
      operation: 'firewalls.insert',
      kind: 'fail-later',
      count: 1,
    });
    const { id } = await org.started({ ipv4Address: '203.0.113.2' });
    const active = await org.reaches(id, 'ACTIVE');
    expect(active.resourceIps.every(({ status }) => status === 'APPLIED')).toBe(true);
    expect(await openFor('203.0.113.2')).toHaveLength(2);
    await org.admin.posted(`/sessions/${id}/stop`);
    await org.reaches(id, 'CANCELLED');
  });

  it('a rule stays for another organization on the same network, and moves with the resource', async () => {
    const other = await organization(drawbridge, []);
    await networkResource(other, { ports: [22, 5432] });
    const [ours, theirs] = await Promise.all(
      [org, other].map((each) => each.started({ ipv4Address: '203.0.113.3' })),
    );
    await Promise.all([org.reaches(ours!.id, 'ACTIVE'), other.reaches(theirs!.id, 'ACTIVE')]);
    await other.admin.posted(`/sessions/${theirs!.id}/stop`);
    await other.reaches(theirs!.id, 'CANCELLED');
    expect(await openFor('203.0.113.3')).toHaveLength(2);
    await org.admin.expect(
      200,
      org.admin.patch(`/resources/${resourceId}`, { config: { port: 443, targetTags: ['web'] } }),
    );
    await until('the rule has moved', async () => {
      const open = await openFor('203.0.113.3');
      return open.length === 1 && open[0] === 'tcp 443 ours';
    });
    await org.admin.posted(`/sessions/${ours!.id}/stop`);
    await org.reaches(ours!.id, 'CANCELLED');
    expect(await openFor('203.0.113.3')).toEqual([]);
  });

  it('rules move with the priority and the service accounts of their resource', async () => {
    const own = await organization(drawbridge, []);
    const id = await networkResource(own, { port: 8443 });
    const { id: session } = await own.started({ ipv4Address: '203.0.113.4' });
    const { resourceIps: before } = await own.reaches(session, 'ACTIVE');
    const config = { port: 8443, priority: 900, targetServiceAccounts: ['db@p.iam.gserviceaccount.com'] };
    await own.admin.expect(200, own.admin.patch(`/resources/${id}`, { config }));
    await until('there is another rule, and it is the only one', async () => {
      const { resourceIps: after, status } = await own.session(session);
      const { providerRuleId: now } = after[0]!;
      const isMoved = now !== null && now !== before[0]!.providerRuleId;
      return status === 'ACTIVE' && isMoved && (await openFor('203.0.113.4')).length === 1;
    });
    for (const wrong of [
      { priority: 65_536 },
      { priority: -1 },
      { targetServiceAccounts: ['nobody'] },
      { targetTags: ['web'], targetServiceAccounts: ['db@p.iam.gserviceaccount.com'] },
    ]) {
      expect((await own.admin.patch(`/resources/${id}`, { config: wrong })).status).toBe(400);
    }
    await own.admin.posted(`/sessions/${session}/stop`);
    await own.reaches(session, 'CANCELLED');
    expect(await openFor('203.0.113.4')).toEqual([]);
  });

  it('a network that lets everybody in to the port is refused when it is verified', async () => {
    const everybody = { provider: 'GCP', target: 'default', protocol: 'tcp', fromPort: 8022, toPort: 8022 };
    const open = await organization(drawbridge, []);
    const id = await networkResource(open, { ports: [8022] });
    await drawbridge.cloud.addUnmanaged({ ...everybody, address: '0.0.0.0/0' });
    const refused = await open.admin.post<object>(`/resources/${id}/verify`);
    expect(refused).toMatchObject({
      status: 400,
      body: {
        error: 'VERIFICATION_FAILED',
        message: expect.stringContaining('default lets everybody (0.0.0.0/0) in to tcp 8022') as unknown,
      },
    });
    expect(await open.admin.get<object>(`/resources/${id}`)).toMatchObject({ body: { isActive: false } });
  });
});
