import { group, ownOrganization } from '../builders/accounts/organization';
import { Drawbridge } from '../harness/product/drawbridge';
import { until } from '../harness/until';

describe('A session that is stopped after its resource moved', () => {
  const drawbridge = Drawbridge.shared();
  const org = ownOrganization(drawbridge);

  const open = async (index: number): Promise<number> => (await drawbridge.cloud.rules(group(index))).length;

  it('is CANCELLED when its address is gone from where it was, not before', async () => {
    const { id } = await org.opened({ ipv4Address: '203.0.113.80' });
    await drawbridge.cloud.fault({
      kind: 'error',
      target: group(0),
      operation: 'RevokeSecurityGroupIngress',
      seconds: 600,
    });
    const path = `/resources/${org.resourceIds[0]}`;
    await org.admin.expect(200, org.admin.patch(path, { resourceIdentifier: group(1) }));
    await until('the address is allowed where it is now', async () => (await open(1)) === 1);
    await org.admin.posted(`/sessions/${id}/stop`);
    await until('it is gone from there', async () => {
      const left = await drawbridge.query(
        `SELECT 1 FROM rules r JOIN targets t ON t.id = r.target_id WHERE t.identifier = $1`,
        [group(1)],
      );
      return left.length === 0;
    });
    expect([await open(0), await open(1)]).toEqual([1, 0]);
    expect((await org.session(id)).status).toBe('EXPIRING');
    await drawbridge.cloud.clearFaults();
    await org.reaches(id, 'CANCELLED');
    expect(await open(0)).toBe(0);
  });
});
