import {
  exchange,
  githubTrust,
  jobClaims,
  jobClient,
  type OidcTrust,
  type TokenCheck,
} from '../builders/sso/oidc';
import { group, organization, type Organization } from '../builders/accounts/organization';
import { audited } from '../builders/accounts/people';
import type { ApiClient, Session } from '../harness/product/api-client';
import { Drawbridge } from '../harness/product/drawbridge';
import { OidcIssuer } from '../harness/issuers/oidc-issuer';
import { until } from '../harness/until';

let drawbridge: Drawbridge;
let issuer: OidcIssuer;
let org: Organization;

beforeAll(async () => {
  issuer = await OidcIssuer.start();
  drawbridge = await Drawbridge.start({ api: { OIDC_ISSUERS: issuer.url } });
  org = await organization(drawbridge, [{ group: group(0) }]);
});
afterAll(async () => {
  await drawbridge.stop();
  await issuer.stop();
});

const statusOf = async (client: ApiClient): Promise<number> => (await client.get('/sessions')).status;
const startedBy = (client: ApiClient, ipv4Address: string): Promise<Session> =>
  client.posted<Session>('/sessions', { ipv4Address });

describe('A CI job without a stored key', () => {
  it('exchanges its ID token for an access token of 15 minutes with the scopes of the trust', async () => {
    const trust = await githubTrust(org, issuer, { scopes: ['sessions:write'] });
    const idToken = await issuer.sign(jobClaims(issuer, trust.audience));
    const answer = await drawbridge.api.expect(200, exchange(drawbridge, idToken, trust.id));
    const { accessToken, ...rest } = answer;
    expect(rest).toEqual({ tokenType: 'Bearer', expiresIn: 900, scopes: ['sessions:write'] });
    expect(accessToken.split('.')).toHaveLength(3);
  });

  it('starts a session as the service user, sees it on the cloud, lists and stops it', async () => {
    const trust = await githubTrust(org, issuer);
    const job = await jobClient(drawbridge, issuer, trust);
    const started = await job.posted<Session>('/sessions?waitSeconds=30', { ipv4Address: '203.0.113.60' });
    expect(started).toMatchObject({ status: 'ACTIVE', userId: trust.serviceUserId });
    const own = await job.read<Session[]>('/sessions?active=true');
    expect(own.map(({ id }) => id)).toEqual([started.id]);
    await job.posted(`/sessions/${started.id}/stop`);
    await until('the session is over', async () => (await org.session(started.id)).status === 'CANCELLED');
    expect((await job.get('/resources')).status).toBe(200);
  });

  it('reaches what the roles of the service user hold, and nothing else', async () => {
    const job = await jobClient(drawbridge, issuer, await githubTrust(org, issuer, { roleIds: [] }));
    expect((await job.post('/sessions', { resourceIds: org.resourceIds })).status).toBe(403);
  });

  it('is recorded with the claims of the job', async () => {
    const trust = await githubTrust(org, issuer);
    await jobClient(drawbridge, issuer, trust);
    const records = await audited(drawbridge, org.organizationId, 'OIDC_TOKEN_EXCHANGED');
    const { details, actorEmail } = records.find(({ resourceId }) => resourceId === trust.id)!;
    expect(actorEmail).toBe(trust.serviceUserEmail);
    const job = { repository: 'octo-org/octo-repo', run_id: '4711', ref: 'refs/heads/main' };
    expect(details['job']).toMatchObject(job);
    const shown = await org.admin.read<OidcTrust>(`/oidc-trusts/${trust.id}`);
    expect(shown.lastUsedAt).not.toBeNull();
  });

  it('exchanges a token once, also with 50 requests at the same time', async () => {
    const trust = await githubTrust(org, issuer);
    const idToken = await issuer.sign(jobClaims(issuer, trust.audience));
    const asked = Array.from({ length: 50 }, () => exchange(drawbridge, idToken, trust.id));
    const answers = await Promise.all(asked);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(49);
  });

  it('has to name the trust where its token fits several', async () => {
    const fresh = await organization(drawbridge);
    const [one, two] = [await githubTrust(fresh, issuer), await githubTrust(fresh, issuer)];
    const idToken = await issuer.sign(jobClaims(issuer, one.audience));
    const { status, body } = await exchange(drawbridge, idToken);
    expect(status).toBe(400);
    expect(body.message).toContain(one.id);
    expect(body.message).toContain(two.id);
    // the refused request has not used the token
    expect((await exchange(drawbridge, idToken, two.id)).status).toBe(200);
  });

  it('with the token of one organization gets nothing from another one', async () => {
    const [one, two] = [await organization(drawbridge), await organization(drawbridge)];
    const [own, strange] = [await githubTrust(one, issuer), await githubTrust(two, issuer)];
    const idToken = await issuer.sign(jobClaims(issuer, own.audience));
    expect((await exchange(drawbridge, idToken, strange.id)).status).toBe(401);
    const path = `/oidc-trusts/${strange.id}/explain`;
    const explained = await two.admin.posted<TokenCheck[]>(path, { idToken });
    expect(explained.filter(({ ok }) => !ok).map(({ claim }) => claim)).toEqual(['aud']);
    const { id } = await startedBy(await jobClient(drawbridge, issuer, strange), '203.0.113.70');
    const job = await jobClient(drawbridge, issuer, own);
    expect((await job.get(`/sessions/${id}`)).status).toBe(404);
  });
});

describe('The access token of a CI job is invalid at once when', () => {
  const change = ({ id }: OidcTrust, body: object): Promise<unknown> =>
    org.admin.patched(`/oidc-trusts/${id}`, body);

  it.each<[string, (trust: OidcTrust) => Promise<unknown>]>([
    ['the trust is disabled', (trust) => change(trust, { isEnabled: false })],
    [
      'the conditions change',
      (trust) => change(trust, { conditions: { ...trust.conditions, actor: ['ada'] } }),
    ],
    ['the scopes change', (trust) => change(trust, { scopes: ['sessions:read'] })],
    ['the trust is deleted', ({ id }) => org.admin.deleted(`/oidc-trusts/${id}`)],
    [
      'the service user is deactivated',
      ({ serviceUserId }) => org.admin.patched(`/users/${serviceUserId}`, { isActive: false }),
    ],
    ['the service user is deleted', ({ serviceUserId }) => org.admin.deleted(`/users/${serviceUserId}`)],
  ])('%s, and no token is exchanged then', async (_, end) => {
    const trust = await githubTrust(org, issuer);
    const job = await jobClient(drawbridge, issuer, trust);
    expect(await statusOf(job)).toBe(200);
    await end(trust);
    expect(await statusOf(job)).toBe(401);
    const idToken = await issuer.sign({ ...jobClaims(issuer, trust.audience), environment: 'production' });
    const again = await exchange(drawbridge, idToken, trust.id);
    // with other scopes it is a trust still
    expect(again.status).toBe(again.body.scopes ? 200 : 401);
  });

  it('its trust was disabled and is enabled again: the old token stays invalid', async () => {
    const trust = await githubTrust(org, issuer);
    const job = await jobClient(drawbridge, issuer, trust);
    for (const isEnabled of [false, true]) await org.admin.patched(`/oidc-trusts/${trust.id}`, { isEnabled });
    expect(await statusOf(job)).toBe(401);
    expect(await statusOf(await jobClient(drawbridge, issuer, trust))).toBe(200);
  });

  it('but a new name of the trust leaves it valid', async () => {
    const trust = await githubTrust(org, issuer);
    const job = await jobClient(drawbridge, issuer, trust);
    await change(trust, { name: `${trust.name} again` });
    expect(await statusOf(job)).toBe(200);
  });

  it('and its sessions end when the trust is deleted', async () => {
    const trust = await githubTrust(org, issuer);
    const { id } = await startedBy(await jobClient(drawbridge, issuer, trust), '203.0.113.62');
    await org.admin.deleted(`/oidc-trusts/${trust.id}`);
    await until('the session is over', async () => (await org.session(id)).status === 'CANCELLED');
    expect((await org.admin.get(`/users/${trust.serviceUserId}`)).status).toBe(404);
  });

  it.each([
    ['while the organization is suspended', 'suspended_at = now()', 1],
    ['on the Free plan', `subscription_tier = 'FREE'`, 2],
  ])('%s it reads and stops, and starts nothing', async (_, state, index) => {
    const other = await organization(drawbridge, [{ group: group(index) }]);
    const job = await jobClient(drawbridge, issuer, await githubTrust(other, issuer));
    const { id } = await startedBy(job, '203.0.113.63');
    await drawbridge.query(`UPDATE organizations SET ${state} WHERE id = $1`, [other.organizationId]);
    expect((await job.post('/sessions', { ipv4Address: '203.0.113.64' })).status).toBe(403);
    expect(await statusOf(job)).toBe(200);
    expect((await job.post(`/sessions/${id}/stop`)).status).toBe(200);
  });
});
