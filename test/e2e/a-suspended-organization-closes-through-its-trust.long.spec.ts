import { group, organization } from '../builders/accounts/organization';
import { groupByTrust } from '../builders/sso/federated-identity';
import { Drawbridge } from '../harness/product/drawbridge';

describe('A suspended organization', () => {
  const drawbridge = Drawbridge.shared();

  it('closes what is open through its trust, for which a token is signed, and opens nothing', async () => {
    const org = await organization(drawbridge, []);
    const id = await groupByTrust(org, group(0));
    const session = await org.opened({ ipv4Address: '203.0.113.60' });

    await org.suspend();
    // so that the removal needs a new token
    await drawbridge.cloud.revokeTokens('AWS');
    const signed = (): Promise<object[]> =>
      drawbridge.query(
        `SELECT 1 FROM audit_records WHERE event_type = 'IDENTITY_TOKEN_SIGNED' AND resource_id = $1`,
        [id],
      );
    const before = (await signed()).length;
    expect((await org.start({ ipv4Address: '203.0.113.61' })).status).toBe(403);
    await org.closed(session.id);
    expect((await signed()).length).toBeGreaterThan(before);
    expect(await drawbridge.cloud.rules(group(0))).toEqual([]);
  });
});
