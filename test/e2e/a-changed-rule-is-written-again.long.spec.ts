import { networkResource } from '../builders/resources/network-resource';
import { group, ownOrganization, sshTo } from '../builders/accounts/organization';
import { healthOf, ledgerOf } from '../builders/sessions/rule-ledger';
import { staticIpRule, staticIpRuleReaches } from '../builders/resources/static-ip-rules';
import { Drawbridge } from '../harness/product/drawbridge';
import { until } from '../harness/until';

const isNotHeld = (kind: string): boolean => kind !== 'HELD';

describe('A rule of ours that another program changed', () => {
  const drawbridge = Drawbridge.shared();
  const org = ownOrganization(drawbridge, []);
  const other = ownOrganization(drawbridge, []);
  let resourceId: string;
  let othersId: string;

  beforeAll(async () => {
    resourceId = await networkResource(org, { port: 22 });
    othersId = await networkResource(other, { port: 22 });
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
  ])('%s is reported to each who holds it, and written again in place', async (_, address, fields, words) => {
    const { id } = await org.started({ ipv4Address: address });
    const { resourceIps } = await org.reaches(id, 'ACTIVE');
    const { id: ruleId } = await staticIpRule(other, { ipAddress: address, resourceIds: [othersId] });
    await staticIpRuleReaches(other, ruleId, 'ACTIVE');
    await drawbridge.cloud.changeByHand('default', address, { fields }, 'GCP');
    await org.admin.posted(`/resources/${resourceId}/reconcile`);
    const kindsOf = async (sessionId: string | null): Promise<string[]> =>
      (await ledgerOf(drawbridge, address))
        .filter((row) => row.sessionId === sessionId)
        .map(({ kind }) => kind);
    await until('it is restored', async () => (await kindsOf(id)).includes('RESTORED'));
    // that it is held by both may be recorded with either, before or after
    expect((await kindsOf(id)).filter(isNotHeld)).toEqual(['OPENED', 'CHANGED', 'RESTORED']);
    expect((await kindsOf(null)).filter(isNotHeld).slice(-2)).toEqual(['CHANGED', 'RESTORED']);
    await staticIpRuleReaches(other, ruleId, 'ACTIVE');
    const again = await org.reaches(id, 'ACTIVE');
    expect(again.resourceIps).toMatchObject([
      { status: 'APPLIED', providerRuleId: resourceIps[0]!.providerRuleId, errorMessage: null },
    ]);
    const rules = await drawbridge.cloud.rules('default', 'GCP');
    expect(rules.map((rule) => [rule.address, rule.fromPort, rule.ours])).toEqual([[address, 22, true]]);
    for (const each of [resourceId, othersId]) {
      const messages = (await healthOf(drawbridge, each)).map(({ message }) => message).join('\n');
      expect(messages).toContain('1 of ours changed, to be written again: it ');
      expect(messages).toContain(words);
    }
    await org.admin.posted(`/sessions/${id}/stop`);
    await org.reaches(id, 'CANCELLED');
    expect(await drawbridge.cloud.rules('default', 'GCP')).toHaveLength(1);
    await other.admin.expect(204, other.admin.delete(`/static-ip-rules/${ruleId}`));
    await until('it is gone', async () => (await drawbridge.cloud.rules('default', 'GCP')).length === 0);
  });
});

describe('A start on a target that the provider does not find', () => {
  const drawbridge = Drawbridge.shared();
  const org = ownOrganization(drawbridge, sshTo(1));

  it('is FAILED with the provider’s words, and can be repeated', async () => {
    await drawbridge.cloud.fault({ kind: 'not-found', target: group(0) });
    const { id } = await org.started({ ipv4Address: '203.0.113.91' });
    const { resourceIps } = await org.reaches(id, 'FAILED');
    expect(resourceIps).toMatchObject([
      { status: 'FAILED', errorMessage: expect.stringContaining('InvalidGroup.NotFound') as string },
    ]);
    await drawbridge.cloud.clearFaults();
    await org.reaches((await org.started({ ipv4Address: '203.0.113.91' })).id, 'ACTIVE');
  });
});
