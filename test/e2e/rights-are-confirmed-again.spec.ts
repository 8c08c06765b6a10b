import { colleague } from '../builders/accounts/colleague';
import { ownOrganization } from '../builders/accounts/organization';
import { audited, newcomer } from '../builders/accounts/people';
import { staticIpRule, staticIpRuleReaches } from '../builders/resources/static-ip-rules';
import type { ApiClient } from '../harness/product/api-client';
import { Drawbridge } from '../harness/product/drawbridge';

interface Review {
  readonly id: string;
  readonly userId: string | null;
  readonly email: string;
  readonly resources: number;
  readonly lastUsedAt: string | null;
  readonly reviewedByEmail: string | null;
  readonly dueAt: string | null;
  readonly givenBy: string | null;
}

interface Results {
  readonly results: readonly { outcome: string; status?: number; message?: string }[];
}

const DAY_MS = 24 * 60 * 60_000;

describe('Rights are confirmed again from time to time', () => {
  const drawbridge = Drawbridge.shared();
  const org = ownOrganization(drawbridge);
  const other = ownOrganization(drawbridge);
  let ada: { readonly id: string; readonly client: ApiClient };
  let second: ApiClient;
  let ruleId: string;

  const reviews = (query: string, admin = org.admin): Promise<Review[]> =>
    admin.expect(200, admin.get<Review[]>(`/reviews?${query}`));
  const of = async (kind: string, isMeant: (review: Review) => boolean): Promise<Review> =>
    (await reviews(`kind=${kind}`)).find(isMeant)!;
  const membership = (): Promise<Review> => of('MEMBERSHIP', ({ userId }) => userId === ada.id);
  const decide = async (
    kind: string,
    id: string,
    decision: string,
    admin = org.admin,
  ): Promise<Results['results'][number]> => {
    const body = { decisions: [{ kind, id, decision, note: 'On call until March' }] };
    const { results } = await admin.expect(200, admin.post<Results>('/reviews', body));
    return results[0]!;
  };
  const attention = async (): Promise<{ message: string }[]> =>
    org.admin.expect(200, org.admin.get<{ message: string }[]>('/attention?kind=REVIEW_DUE'));
  const settings = (body: object): Promise<{ status: number }> =>
    org.admin.patch('/organization/settings', body);
  /** It was given, or created, so many days ago. */
  const age = (table: string, days: number): Promise<unknown> =>
    drawbridge.query(
      `UPDATE ${table} SET created_at = now() - make_interval(days => $2) WHERE organization_id = $1`,
      [org.organizationId, days],
    );

  beforeAll(async () => {
    const made = await colleague(org);
    ada = { id: made.id, client: made.client };
    second = (await newcomer(drawbridge, org.admin, { isOrgAdmin: true })).client;
    ({ id: ruleId } = await staticIpRule(org, { ipAddress: '198.51.100.7' }));
    await staticIpRuleReaches(org, ruleId, 'ACTIVE');
  });

  it('never, unless the organization says how often', async () => {
    expect(await membership()).toMatchObject({ dueAt: null, resources: 1, reviewedByEmail: null });
    await age('role_users', 400);
    expect(await reviews('kind=MEMBERSHIP&due=true')).toEqual([]);
    expect(await attention()).toEqual([]);
    for (const days of [29, 731]) expect((await settings({ membershipReviewDays: days })).status).toBe(422);
  });

  it('a membership is due after its days, and not once another administrator has confirmed it', async () => {
    expect((await settings({ membershipReviewDays: 90 })).status).toBe(200);
    expect((await reviews('kind=MEMBERSHIP&due=true&sort=name')).map(({ userId }) => userId)).toContain(
      ada.id,
    );
    expect(await attention()).toMatchObject([
      { message: expect.stringMatching(/^\d+ memberships$/) as string },
    ]);
    const { id } = await membership();
    expect(await decide('MEMBERSHIP', id, 'CONFIRM')).toMatchObject({ outcome: 'DONE' });
    const { dueAt, reviewedByEmail } = await membership();
    expect(reviewedByEmail).toBe(org.adminEmail);
    expect(Math.round((Date.parse(dueAt!) - Date.now()) / DAY_MS)).toBe(90);
    expect(await audited(drawbridge, org.organizationId, 'MEMBERSHIP_REVIEWED')).toMatchObject([
      {
        resourceId: org.roleId,
        details: { decision: 'CONFIRM', note: 'On call until March', userId: ada.id },
      },
    ]);
  });

  it('one’s own is confirmed by another', async () => {
    const own = await of('MEMBERSHIP', ({ userId }) => userId === org.adminId);
    expect(await decide('MEMBERSHIP', own.id, 'CONFIRM')).toMatchObject({ outcome: 'REFUSED', status: 403 });
    expect(await decide('STATIC_RULE', ruleId, 'CONFIRM')).toMatchObject({ outcome: 'REFUSED', status: 403 });
    expect(await decide('MEMBERSHIP', own.id, 'CONFIRM', second)).toMatchObject({ outcome: 'DONE' });
    expect(await attention()).toEqual([]);
  });

  it('a membership that was used says when, one that an identity provider gives is never due', async () => {
    const { id } = await membership();
    const started = await ada.client.posted<{ id: string }>('/sessions', { ipv4Address: '203.0.113.77' });
    await org.reaches(started.id, 'ACTIVE');
    expect((await membership()).lastUsedAt).not.toBeNull();
    const [provider] = await drawbridge.query<{ id: string }>(
      `INSERT INTO identity_providers (organization_id, name, issuer, client_id, sealed_data, created_by_email)
       VALUES ($1, 'Example login', 'https://id.example.com', 'x', '{}', 'ada@example.com') RETURNING id`,
      [org.organizationId],
    );
    await drawbridge.query('UPDATE role_users SET given_by_provider_id = $2 WHERE id = $1', [
      id,
      provider!.id,
    ]);
    expect(await membership()).toMatchObject({ givenBy: 'Example login', dueAt: null });
    await drawbridge.query('UPDATE role_users SET given_by_provider_id = NULL WHERE id = $1', [id]);
  });

  it('a static IP rule is due by its own date or after its days', async () => {
    const soon = new Date(Date.now() + 60_000).toISOString();
    const past = await org.admin.patch(`/static-ip-rules/${ruleId}`, { reviewBy: '2020-01-01T00:00:00Z' });
    expect(past).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining('reviewBy must be to come') as string },
    });
    expect((await org.admin.patch(`/static-ip-rules/${ruleId}`, { reviewBy: soon })).status).toBe(200);
    expect(await reviews('kind=STATIC_RULE')).toMatchObject([{ id: ruleId, dueAt: soon, resources: 1 }]);
    expect(await decide('STATIC_RULE', ruleId, 'CONFIRM', second)).toMatchObject({ outcome: 'DONE' });
    expect((await settings({ staticRuleReviewDays: 30 })).status).toBe(200);
    await drawbridge.query(
      `UPDATE static_ip_rules SET reviewed_at = now() - interval '31 days', review_by = NULL WHERE id = $1`,
      [ruleId],
    );
    expect(await attention()).toMatchObject([{ message: '1 static IP rule' }]);
  });

  it('what is removed is gone, and recorded with its note', async () => {
    const { id } = await membership();
    expect(await decide('MEMBERSHIP', id, 'REMOVE')).toMatchObject({ outcome: 'DONE' });
    expect(await decide('MEMBERSHIP', id, 'REMOVE')).toMatchObject({ outcome: 'REFUSED', status: 404 });
    const role = await org.admin.expect(200, org.admin.get<{ userIds: string[] }>(`/roles/${org.roleId}`));
    expect(role.userIds).not.toContain(ada.id);
    expect(await decide('STATIC_RULE', ruleId, 'REMOVE')).toMatchObject({ outcome: 'DONE' });
    expect(await reviews('kind=STATIC_RULE')).toEqual([]);
    const recorded = await audited(drawbridge, org.organizationId, 'STATIC_IP_RULE_REVIEWED');
    expect(recorded.map(({ details }) => details)).toContainEqual({
      decision: 'REMOVE',
      note: 'On call until March',
    });
  });

  it('no administrator sees or decides what another organization has', async () => {
    const [foreign] = await reviews('kind=MEMBERSHIP', other.admin);
    expect(await decide('MEMBERSHIP', foreign!.id, 'REMOVE')).toMatchObject({
      outcome: 'REFUSED',
      status: 404,
    });
    expect((await reviews('kind=MEMBERSHIP')).map(({ id }) => id)).not.toContain(foreign!.id);
  });
});
