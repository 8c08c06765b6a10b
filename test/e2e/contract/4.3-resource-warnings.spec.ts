import { ownOrganization } from '../../builders/accounts/organization';
import { resourceBody, verifiedResource, type Resource } from '../../builders/resources/resources';
import type { Answer } from '../../harness/product/api-client';
import { Drawbridge } from '../../harness/product/drawbridge';

describe('4.3 Resources that open more than was meant', () => {
  const drawbridge = Drawbridge.shared();
  const org = ownOrganization(drawbridge);
  const create = (changes: object = {}): Promise<Answer<Resource>> =>
    org.admin.post<Resource>('/resources', resourceBody(org, changes));
  const patch = (id: string, body: object): Promise<Answer<Resource>> =>
    org.admin.patch<Resource>(`/resources/${id}`, body);

  it.each(['port', 'ports', 'protocol'])('with %s beside config is 400, also in PATCH', async (field) => {
    const resource = await org.admin.created<Resource>('/resources', resourceBody(org));
    for (const answer of [await create({ [field]: 22 }), await patch(resource.id, { [field]: 22 })]) {
      expect(answer).toMatchObject({ status: 400, body: { error: 'VALIDATION_ERROR' } });
      expect(answer.body).toMatchObject({
        message: expect.stringMatching(`^${field} belongs into config`) as string,
      });
    }
  });

  it('without ports warns what it opens, as PATCH, a verification and its sessions do', async () => {
    const resource = await verifiedResource(org, 4, {});
    const everyUdp = { warnings: ['opens every UDP port'] };
    const everyTcp = { warnings: ['opens every TCP port'] };
    expect([(await create()).body, resource]).toMatchObject([everyTcp, everyTcp]);
    expect((await patch(resource.id, { config: { protocol: 'udp' } })).body).toMatchObject(everyUdp);
    expect(await org.admin.posted(`/resources/${resource.id}/verify`)).toMatchObject(everyUdp);
    const addresses = { ipv4Address: '10.1.2.3', ipv6Address: '2001:db8::7' };
    const session = await org.started({ ...addresses, resourceIds: [resource.id] });
    const warned = [expect.stringMatching('^10.1.2.3 is private: ') as string];
    expect(session.resourceIps.map(({ warnings }) => warnings)).toEqual([
      [...everyUdp.warnings, ...warned],
      everyUdp.warnings,
    ]);
  });
});
