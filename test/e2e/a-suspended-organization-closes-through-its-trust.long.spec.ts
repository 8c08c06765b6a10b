import { group, organization } from '../builders/accounts/organization';
import type { Credential, Session } from '../harness/product/api-client';
import { Drawbridge } from '../harness/product/drawbridge';

type Federated = Credential & { readonly identity?: { issuer: string; subject: string } };

describe('A suspended organization', () => {
  const drawbridge = Drawbridge.shared();

  it('closes what is open through its trust, for which a token is signed, and opens nothing', async () => {
    const org = await organization(drawbridge, []);
    const { admin } = org;
    const { id, identity } = await admin.created<Federated>('/credentials', {
      name: 'By trust',
      provider: 'AWS',
      credentialType: 'WEB_IDENTITY',
      credentialData: { roleArn: 'arn:aws:iam::123456789012:role/federated' },
    });
    const { issuer, subject } = identity!;
    await drawbridge.cloud.trust({ provider: 'AWS', issuer, subject });
    const resource = await admin.created<{ id: string }>('/resources', {
      name: 'By trust',
      provider: 'AWS',
      credentialId: id,
      config: { port: 22 },
      resourceType: 'SECURITY_GROUP',
      resourceIdentifier: group(0),
      region: 'eu-central-1',
    });
    await admin.posted(`/resources/${resource.id}/verify`);
    await admin.posted(`/roles/${org.roleId}/resources/${resource.id}`);
    const session = await org.opened({ ipv4Address: '203.0.113.60' });

    await drawbridge.query('UPDATE organizations SET suspended_at = now() WHERE id = $1', [
      org.organizationId,
    ]);
    // so that the removal needs a new token
    await drawbridge.cloud.revokeTokens('AWS');
    const signed = (): Promise<object[]> =>
      drawbridge.query(
        `SELECT 1 FROM audit_records WHERE event_type = 'IDENTITY_TOKEN_SIGNED' AND resource_id = $1`,
        [id],
      );
    const before = (await signed()).length;
    expect((await org.start({ ipv4Address: '203.0.113.61' })).status).toBe(403);
    await admin.posted<Session>(`/sessions/${session.id}/stop`);
    await org.reaches(session.id, 'CANCELLED');
    expect((await signed()).length).toBeGreaterThan(before);
    expect(await drawbridge.cloud.rules(group(0))).toEqual([]);
  });
});
