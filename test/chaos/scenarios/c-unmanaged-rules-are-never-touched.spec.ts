import { group, ownOrganization } from '../../builders/accounts/organization';
import { Drawbridge } from '../../harness/product/drawbridge';
import { Watch } from '../oracles/watch';

describe('C. Unmanaged rules are never modified', () => {
  const drawbridge = Drawbridge.shared();
  const org = ownOrganization(drawbridge);
  let watch: Watch;

  beforeEach(async () => {
    watch = await Watch.begin(drawbridge);
  });
  afterEach(() => watch.verify());

  it('a session with the same address as an unmanaged rule is ACTIVE, and the rule stays after its end [C3]', async () => {
    const unmanaged = {
      target: group(0),
      address: '203.0.113.100/32',
      protocol: 'tcp',
      fromPort: 22,
      toPort: 22,
    };
    await drawbridge.cloud.addUnmanaged(unmanaged);
    const before = await drawbridge.cloud.rules(group(0));
    const { id } = await org.started({ ipv4Address: '203.0.113.100' });
    await org.reaches(id, 'ACTIVE');
    await org.admin.posted(`/sessions/${id}/stop`);
    const ended = await org.reaches(id, 'CANCELLED');
    expect(ended.resourceIps[0]!.status).toBe('REMOVED');
    expect(await drawbridge.cloud.rules(group(0))).toEqual(before);
    // EC2 refuses to add a rule that exists, and changes nothing
    const harmless = new Set(['DryRunOperation', 'InvalidPermission.Duplicate']);
    const writes = (await drawbridge.cloud.calls()).filter(
      (call) => /^(Authorize|Revoke)/.test(call.operation) && !harmless.has(call.outcome ?? 'done'),
    );
    expect(writes).toEqual([]);
  });

  it('unmanaged rules on the same group stay unchanged while ours are added and removed [C3]', async () => {
    await drawbridge.cloud.addUnmanaged({
      target: group(0),
      address: '203.0.113.101/32',
      protocol: 'tcp',
      fromPort: 23,
      toPort: 23,
    });
    await drawbridge.cloud.addUnmanaged({
      target: group(0),
      address: '203.0.113.0/24',
      protocol: 'tcp',
      fromPort: 22,
      toPort: 22,
    });
    const before = await drawbridge.cloud.rules(group(0));
    const { id } = await org.started({ ipv4Address: '203.0.113.101' });
    await org.reaches(id, 'ACTIVE');
    expect(await drawbridge.cloud.rules(group(0))).toHaveLength(before.length + 1);
    await org.expire(id);
    await org.reaches(id, 'EXPIRED');
    expect(await drawbridge.cloud.rules(group(0))).toEqual(before);
  });
});
