import {
  CONDITIONS,
  exchange,
  githubTrust,
  jobClaims,
  type OidcTrust,
  type TokenCheck,
} from '../../builders/sso/oidc';
import { organization, type Organization } from '../../builders/accounts/organization';
import { audited, founder } from '../../builders/accounts/people';
import type { User } from '../../builders/contract/answers';
import type { Answer, ApiClient } from '../../harness/product/api-client';
import { Drawbridge } from '../../harness/product/drawbridge';
import { OidcIssuer } from '../../harness/issuers/oidc-issuer';

const PUBLIC_URL = 'https://drawbridge.example.com/';
const BUILDKITE = 'https://agent.buildkite.com';

let drawbridge: Drawbridge;
let issuer: OidcIssuer;
let org: Organization;
let admin: ApiClient;
let names = 0;

beforeAll(async () => {
  issuer = await OidcIssuer.start();
  drawbridge = await Drawbridge.start({
    worker: false,
    api: {
      PUBLIC_URL,
      OIDC_ISSUERS: `${issuer.url},https://token.actions.githubusercontent.com,https://gitlab.com,${BUILDKITE}`,
    },
  });
  org = await organization(drawbridge);
  ({ admin } = org);
});
afterAll(async () => {
  await drawbridge.stop();
  await issuer.stop();
});

type Refusal = Answer<{ message: string; validationErrors: Record<string, string> }>;

const freshName = (): string => `Trust ${(names += 1)}`;
const SCOPES = ['sessions:write'];
const GITHUB = { preset: 'GITHUB', conditions: CONDITIONS };
const post = <T = OidcTrust>(body: object, by = admin): Promise<Answer<T>> =>
  by.post<T>('/oidc-trusts', { name: freshName(), scopes: SCOPES, ...body });
const made = (body: object = GITHUB): Promise<OidcTrust> => admin.expect(201, post(body));
const refusalOf = async (body: object): Promise<string[]> => {
  const { status, body: refusal } = (await post(body)) as unknown as Refusal;
  return [String(status), ...Object.entries(refusal.validationErrors).flat()];
};

describe('POST /oidc-trusts', () => {
  it('returns the trust with its audience and the service user that it creates', async () => {
    const trust = await made({ ...GITHUB, name: 'Deploy to production', roleIds: [org.roleId] });
    expect(trust).toMatchObject({
      name: 'Deploy to production',
      preset: 'GITHUB',
      issuer: 'https://token.actions.githubusercontent.com',
      audience: `https://drawbridge.example.com/o/${org.organizationId}`,
      conditions: CONDITIONS,
      scopes: SCOPES,
      isEnabled: true,
      serviceUserEmail: 'deploy-to-production@service.invalid',
      isServiceUserActive: true,
      lastUsedAt: null,
    });
    const user = await admin.expect(200, admin.get<User>(`/users/${trust.serviceUserId}`));
    expect(user).toMatchObject({ isService: true, isOrgAdmin: false, roleNames: ['Developers'] });
    const records = await audited(drawbridge, org.organizationId, 'OIDC_TRUST_CREATED');
    expect(records.map(({ resourceId }) => resourceId)).toContain(trust.id);
  });

  it('refuses a name that is taken, and an unknown role', async () => {
    const { name } = await made();
    expect(await refusalOf({ ...GITHUB, name })).toEqual(['400', 'name', 'must not be taken']);
    const unknown = await post({ ...GITHUB, roleIds: ['7f7b5e4e-6a0c-4f0a-9c8a-000000000000'] });
    expect(unknown.status).toBe(404);
    expect(
      (await admin.get<User[]>('/users?isService=true&size=100')).body.map((user) => user.name),
    ).not.toContain(`Trust ${names}`);
  });

  it('refuses another audience than the organization’s, and takes what an answer shows', async () => {
    const { id, audience } = await made();
    const other = { audience: 'api://AzureADTokenExchange' };
    const message = `cannot be chosen: jobs request their token for ${audience}`;
    expect(await refusalOf({ ...GITHUB, ...other })).toEqual(['400', 'audience', message]);
    expect((await admin.patch(`/oidc-trusts/${id}`, other)).status).toBe(400);
    expect((await admin.patch(`/oidc-trusts/${id}`, { audience })).status).toBe(200);
  });

  it('needs the Paid plan', async () => {
    const { client } = await founder(drawbridge);
    expect((await post(GITHUB, client)).status).toBe(403);
  });

  it('refuses the 101st trust of an organization', async () => {
    const full = await organization(drawbridge);
    const first = await githubTrust(full, issuer);
    await drawbridge.query(
      `INSERT INTO oidc_trusts (organization_id, name, preset, issuer, service_user_id, scopes, conditions, created_by_email)
       SELECT organization_id, 'copy ' || i, preset, issuer, service_user_id, scopes, conditions, created_by_email
       FROM oidc_trusts, generate_series(1, 98) i WHERE id = $1`,
      [first.id],
    );
    const answers = await Promise.all(Array.from({ length: 5 }, () => post(GITHUB, full.admin)));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 400)).toHaveLength(4);
  });
});

describe('GET, PATCH and DELETE /oidc-trusts', () => {
  it('changes what is given and records it', async () => {
    const { id } = await made();
    const conditions = { ...CONDITIONS, actor: ['ada'] };
    const changes = { name: freshName(), conditions, scopes: ['sessions:read'], isEnabled: false };
    expect(await admin.expect(200, admin.patch(`/oidc-trusts/${id}`, changes))).toMatchObject(changes);
    const records = await audited(drawbridge, org.organizationId, 'OIDC_TRUST_UPDATED');
    const { details } = records.find(({ resourceId }) => resourceId === id)!;
    expect(Object.keys(details['changed'] as object).toSorted()).toEqual(Object.keys(changes).toSorted());
  });

  it('refuses conditions that do not suffice, a name that is taken and null', async () => {
    const [one, two] = [await made(), await made()];
    const patch = async (body: object): Promise<number> =>
      (await admin.patch(`/oidc-trusts/${one.id}`, body)).status;
    expect(await patch({ conditions: { repository_id: ['1'] } })).toBe(400);
    expect(await patch({ name: two.name })).toBe(400);
    expect(await patch({ conditions: null })).toBe(400);
    expect(await patch({ isEnabled: null })).toBe(400);
    expect(await admin.expect(200, admin.get(`/oidc-trusts/${one.id}`))).toEqual(one);
  });

  it('on the Free plan narrows its scopes and does not widen them', async () => {
    const free = await organization(drawbridge);
    const { id } = await githubTrust(free, issuer);
    await drawbridge.query(`UPDATE organizations SET subscription_tier = 'FREE' WHERE id = $1`, [
      free.organizationId,
    ]);
    const patch = async (scopes: string[]): Promise<number> =>
      (await free.admin.patch(`/oidc-trusts/${id}`, { scopes })).status;
    expect(await patch(['sessions:read'])).toBe(200);
    expect(await patch(['sessions:read', 'sessions:write'])).toBe(403);
  });

  it('deletes the trust with its service user', async () => {
    const { id, serviceUserId } = await made();
    await admin.expect(204, admin.delete(`/oidc-trusts/${id}`));
    expect((await admin.get(`/oidc-trusts/${id}`)).status).toBe(404);
    expect((await admin.get(`/users/${serviceUserId}`)).status).toBe(404);
    expect((await admin.delete(`/oidc-trusts/${id}`)).status).toBe(404);
  });

  it('a trust whose service user was deleted can be deleted', async () => {
    const { id, serviceUserId } = await made();
    await admin.expect(204, admin.delete(`/users/${serviceUserId}`));
    const shown = await admin.expect(200, admin.get<OidcTrust>(`/oidc-trusts/${id}`));
    expect(shown.isServiceUserActive).toBe(false);
    await admin.expect(204, admin.delete(`/oidc-trusts/${id}`));
  });
});

describe('POST /oidc-trusts/{id}/explain', () => {
  const explained = async ({ id }: OidcTrust, idToken: string): Promise<TokenCheck[]> =>
    admin.posted<TokenCheck[]>(`/oidc-trusts/${id}/explain`, { idToken });

  it('shows every check, and uses nothing', async () => {
    const trust = await githubTrust(org, issuer);
    const idToken = await issuer.sign(jobClaims(issuer, trust.audience));
    const checks = await explained(trust, idToken);
    expect(checks.map(({ claim }) => claim)).toEqual([
      ...'alg kid iss signature aud exp nbf iat jti trust'.split(' '),
      ...Object.keys(CONDITIONS).toSorted(),
      'event_name',
    ]);
    expect(checks.filter(({ ok }) => !ok)).toEqual([]);
    expect((await exchange(drawbridge, idToken, trust.id)).status).toBe(200);
    const used = (await explained(trust, idToken)).filter(({ ok }) => !ok);
    expect(used.map(({ claim, wanted }) => `${claim} ${wanted}`)).toEqual([
      'jti of a token that was not exchanged before',
    ]);
  });

  it('shows what was wanted and found', async () => {
    const trust = await githubTrust(org, issuer);
    const claims = { ...jobClaims(issuer, trust.audience), environment: 'staging' };
    const checks = await explained(trust, await issuer.sign(claims));
    expect(checks.filter(({ ok }) => !ok)).toEqual([
      { claim: 'environment', wanted: 'production', found: 'staging', ok: false },
    ]);
  });

  it('shows a disabled trust', async () => {
    const trust = await githubTrust(org, issuer);
    await admin.expect(200, admin.patch(`/oidc-trusts/${trust.id}`, { isEnabled: false }));
    const checks = await explained(trust, await issuer.sign(jobClaims(issuer, trust.audience)));
    expect(checks.filter(({ ok }) => !ok).map(({ found }) => found)).toEqual(['disabled']);
  });
});
