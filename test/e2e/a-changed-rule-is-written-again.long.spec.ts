import { networkResource } from '../builders/network-resource';
import { group, ownOrganization, sshTo } from '../builders/organization';
import { healthOf, ledgerOf } from '../builders/rule-ledger';
import { Drawbridge } from '../harness/drawbridge';
import { until } from '../harness/until';

describe('A rule of ours that another program changed', () => {
  const drawbridge = Drawbridge.shared();
  const org = ownOrganization(drawbridge, []);
  let resourceId: string;

  beforeAll(async () => {
    resourceId = await networkResource(org, { port: 22 });
  });

  it.each([
    [
      'to let everybody in, too',
      '203.0.113.88',
      { sourceRanges: ['203.0.113.88/32', '0.0.0.0/0'] },
      'lets everybody (0.0.0.0/0) in to tcp 22',
    ],
    ['to let nobody in', '203.0.113.89', { disabled: true }, 'it is disabled'],
    ['to let in a tag, too', '203.0.113.90', { sourceTags: ['web'] }, 'it lets in instances with web too'],
  ])('%s is reported, and written again in place', async (_, address, fields, words) => {
    const { id } = await org.started({ ipv4Address: address });
    const { resourceIps } = await org.reaches(id, 'ACTIVE');
    await drawbridge.cloud.changeByHand('default', address, { fields }, 'GCP');
    await org.admin.posted(`/resources/${resourceId}/reconcile`);
    const kindsOf = async (): Promise<string[]> =>
      (await ledgerOf(drawbridge, address)).map(({ kind }) => kind);
    await until('it is restored', async () => (await kindsOf()).includes('RESTORED'));
    expect(await kindsOf()).toEqual(['OPENED', 'CHANGED', 'RESTORED']);
    const again = await org.reaches(id, 'ACTIVE');
    expect(again.resourceIps).toMatchObject([
      { status: 'APPLIED', providerRuleId: resourceIps[0]!.providerRuleId, errorMessage: null },
    ]);
    const rules = await drawbridge.cloud.rules('default', 'GCP');
    expect(rules.map((rule) => [rule.address, rule.fromPort, rule.ours])).toEqual([[address, 22, true]]);
    const messages = (await healthOf(drawbridge, resourceId)).map(({ message }) => message).join('\n');
    expect(messages).toContain('1 of ours changed, to be written again: it ');
    expect(messages).toContain(words);
    await org.admin.posted(`/sessions/${id}/stop`);
    await org.reaches(id, 'CANCELLED');
    expect(await drawbridge.cloud.rules('default', 'GCP')).toEqual([]);
  });
});

describe('A start on a target that the provider does not find', () => {
  const drawbridge = Drawbridge.shared();
  const org = ownOrganization(drawbridge, sshTo(1));

  it('is FAILED with the provider’s words, and can be repeated', async () => {
    await drawbridge.cloud.fault({ kind: 'not-found', target: group(0) });
    const { id } = await org.started({ ipv4Address: '203.0.113.91' });
    const { resourceIps } = await org.reaches(id, 'FAILED', 90_000);
    expect(resourceIps).toMatchObject([
      { status: 'FAILED', errorMessage: expect.stringContaining('InvalidGroup.NotFound') as string },
    ]);
    await drawbridge.cloud.clearFaults();
    await org.reaches((await org.started({ ipv4Address: '203.0.113.91' })).id, 'ACTIVE');
  });
});
