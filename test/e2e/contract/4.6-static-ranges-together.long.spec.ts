import { organization, sshTo, type Organization } from '../../builders/accounts/organization';
import { ApiClient, type Answer } from '../../harness/product/api-client';
import { Drawbridge } from '../../harness/product/drawbridge';

interface StaticRule {
  readonly id: string;
  readonly message?: string;
}

describe('4.6 Static IP rules: all ranges of a resource together', () => {
  const drawbridge = Drawbridge.shared({ worker: false });
  let org: Organization;

  beforeEach(async () => {
    org = await organization(drawbridge, sshTo(2));
  });

  const create = (
    ipAddress: string,
    resources: readonly number[] = [0],
    by: ApiClient = org.admin,
  ): Promise<Answer<StaticRule>> =>
    by.post('/static-ip-rules', {
      label: 'Office',
      ipAddress,
      resourceIds: resources.map((index) => org.resourceIds[index]),
    });
  const statuses = async (ranges: readonly string[]): Promise<number[]> => {
    const given: number[] = [];
    for (const range of ranges) given.push((await create(range)).status);
    return given;
  };

  it('are at most as wide as an IPv4 /8: one more is 422, which names the resource and what to do', async () => {
    expect(await statuses(['12.0.0.0/9', '12.128.0.0/9'])).toEqual([201, 201]);
    const { status, body } = await create('13.0.0.0/24');
    expect([status, body.message]).toEqual([
      422,
      'ipAddress would open more than a /8 on the resource "resource-0": its static IPv4 ranges may be no wider ' +
        'together. Give a narrower range, or delete another one first',
    ]);
  });

  it('are at most as wide as an IPv6 /16', async () => {
    expect(await statuses(['2400::/17', '2400:8000::/17', '2401::/64'])).toEqual([201, 201, 422]);
  });

  it('count each address once, and each family and resource for itself', async () => {
    expect(await statuses(['12.0.0.0/8', '12.0.0.0/8', '12.7.0.0/16', '2400::/16'])).toEqual([
      201, 201, 201, 201,
    ]);
    expect((await create('13.0.0.0/8', [1])).status).toBe(201);
  });

  it('do not count single addresses', async () => {
    expect(await statuses(['12.0.0.0/8', '13.0.0.1', '13.0.0.2/32'])).toEqual([201, 201, 201]);
  });

  it('leave room again when one of them is deleted or taken from the resource', async () => {
    const { body } = await create('12.0.0.0/8', [0, 1]);
    expect((await create('13.0.0.0/8')).status).toBe(422);
    await org.admin.expect(
      200,
      org.admin.patch(`/static-ip-rules/${body.id}`, { resourceIds: [org.resourceIds[1]] }),
    );
    const moved = await create('13.0.0.0/8');
    expect(moved.status).toBe(201);
    await org.admin.expect(204, org.admin.delete(`/static-ip-rules/${moved.body.id}`));
    expect((await create('14.0.0.0/8')).status).toBe(201);
  });

  it('are counted when a resource is added to a rule, too', async () => {
    const { body } = await create('12.0.0.0/8', [1]);
    await create('13.0.0.0/8', [0]);
    const patched = await org.admin.patch<StaticRule>(`/static-ip-rules/${body.id}`, {
      resourceIds: org.resourceIds,
    });
    expect([patched.status, patched.body.message]).toEqual([
      422,
      expect.stringContaining('the resource "resource-0"'),
    ]);
  });

  it('that are created at once are counted one after the other', async () => {
    const ranges = Array.from({ length: 8 }, (_, index) => `${12 + index}.0.0.0/8`);
    const answers = await Promise.all(ranges.map((range) => create(range)));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 422)).toHaveLength(7);
  });

  it('may be as wide as the deployment says', async () => {
    const { port } = await drawbridge.startApi({
      STATIC_IP_TOTAL_PREFIX_IPV4: '23',
      STATIC_IP_TOTAL_PREFIX_IPV6: '47',
    });
    const strict = new ApiClient(`http://127.0.0.1:${port}/api/v1`).as(org.admin.identity);
    const given: number[] = [];
    for (const range of ['12.0.0.0/22', '12.0.0.0/23', '12.0.2.0/24', '2400::/46', '2400::/47'])
      given.push((await create(range, [0], strict)).status);
    expect(given).toEqual([422, 201, 422, 422, 201]);
  });
});
