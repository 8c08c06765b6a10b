import { randomUUID } from 'node:crypto';
import { mailedToken } from '../builders/accounts/accounts';
import {
  administrator,
  asked,
  asks,
  readRequest,
  type AccessRequest,
} from '../builders/requests/access-requests';
import { colleague, type Colleague } from '../builders/accounts/colleague';
import { REGISTERED } from '../builders/sso/identity-providers';
import { ownOrganization } from '../builders/accounts/organization';
import type { Answer, ApiClient } from '../harness/product/api-client';
import { Drawbridge } from '../harness/product/drawbridge';

interface Refused {
  readonly message: string;
}

describe('Approval is given by another person, whatever account signs in', () => {
  const drawbridge = Drawbridge.shared();
  const org = ownOrganization(drawbridge);
  let member: Colleague;
  let other: Colleague;
  let address = 0;
  const free = (): { ipv4Address: string } => ({ ipv4Address: `198.51.100.${(address += 1)}` });

  beforeAll(async () => {
    member = await colleague(org);
    other = await administrator(org);
    await asks(org, { approvals: 1 });
  });

  it('another account of the same person at the same issuer does not decide', async () => {
    const { id } = await asked(org, member.client, free());
    for (const [name, { id: userId }] of Object.entries({ first: member, second: other })) {
      const provider = await org.admin.created<{ id: string }>('/identity-providers', {
        ...REGISTERED,
        name,
      });
      await drawbridge.query(
        `INSERT INTO user_identities (organization_id, provider_id, subject, user_id) VALUES ($1, $2, 'ada', $3)`,
        [org.organizationId, provider.id, userId],
      );
    }
    expect(await readRequest(other.client, id)).toMatchObject({ mayDecide: false });
    expect((await other.client.post(`/access-requests/${id}/approve`)).status).toBe(403);
    await drawbridge.query(`UPDATE user_identities SET subject = 'bob' WHERE user_id = $1`, [other.id]);
    await other.client.expect(200, other.client.post(`/access-requests/${id}/approve`));
  });

  it('a sign-in by an identity that the requester has linked approves nothing of the requester’s', async () => {
    const { id } = await asked(org, member.client, free());
    const mine = await asked(org, org.admin, free());
    const provider = await org.admin.created<{ id: string }>('/identity-providers', {
      ...REGISTERED,
      name: 'linked',
    });
    await drawbridge.query(
      `WITH identity AS (
         INSERT INTO user_identities (organization_id, provider_id, subject, user_id, linked_by)
         VALUES ($1, $2, 'linked', $3, $4) RETURNING id
       ) INSERT INTO sso_sign_ins (organization_id, family_id, identity_id, user_id)
       SELECT DISTINCT $1::uuid, t.family_id, identity.id, $3::uuid FROM refresh_tokens t, identity WHERE t.user_id = $3`,
      [org.organizationId, provider.id, other.id, org.adminId],
    );
    const refused = await other.client.post<Refused>(`/access-requests/${mine.id}/approve`);
    expect([refused.status, refused.body.message]).toEqual([403, expect.stringContaining('linked')]);
    await other.client.expect(200, other.client.post(`/access-requests/${id}/approve`));
    await other.client.expect(200, other.client.post(`/access-requests/${mine.id}/deny`));
    await org.admin.expect(204, org.admin.delete(`/identity-providers/${provider.id}`));
    other = await administrator(org);
  });

  it('a password that was set by a link of the requester approves nothing of the requester’s, until one is mailed', async () => {
    const third = await administrator(org);
    const reset = async (token: string): Promise<ApiClient> => {
      const given = { token, newPassword: `Aa1 ${randomUUID()}` };
      const { accessToken } = await drawbridge.api.posted<{ accessToken: string }>(
        '/auth/reset-password',
        given,
      );
      return drawbridge.api.as({ token: accessToken });
    };
    const [mine, theirs] = [await asked(org, org.admin, free()), await asked(org, member.client, free())];
    const approve = (client: ApiClient, { id }: AccessRequest): Promise<Answer<Refused>> =>
      client.post<Refused>(`/access-requests/${id}/approve`);
    const link = await org.admin.posted<{ passwordResetUrl: string }>(`/users/${third.id}/password-link`);
    const byLink = await reset(link.passwordResetUrl.split('/').at(-1)!);
    const refused = await approve(byLink, mine);
    expect([refused.status, refused.body.message]).toEqual([
      403,
      expect.stringContaining('passed on the link'),
    ]);
    await byLink.expect(200, approve(byLink, theirs));
    await drawbridge.api.expect(204, drawbridge.api.post('/auth/forgot-password', { email: third.email }));
    const mailed = await mailedToken(drawbridge, third.email);
    const byMail = await reset(mailed);
    await byMail.expect(200, approve(byMail, mine));
  });
});
