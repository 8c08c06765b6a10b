import { verifiedService } from '../builders/resources/services';
import { ownOrganization } from '../builders/accounts/organization';
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
    resourceId = await verifiedService(org, 'FIREWALL', 'default', { port: 22 });
    othersId = await verifiedService(other, 'FIREWALL', 'default', { port: 22 });
  });

  it('is reported to each who holds it, and written again in place', async () => {
    const address = '203.0.113.88';
    const fields = { sourceRanges: [`${address}/32`, '0.0.0.0/0'] };
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
      expect(messages).toContain('lets everybody (0.0.0.0/0) in to tcp 22');
    }
    await org.closed(id);
    expect(await drawbridge.cloud.rules('default', 'GCP')).toHaveLength(1);
    await other.admin.expect(204, other.admin.delete(`/static-ip-rules/${ruleId}`));
    await until('it is gone', async () => (await drawbridge.cloud.rules('default', 'GCP')).length === 0);
  });
});
