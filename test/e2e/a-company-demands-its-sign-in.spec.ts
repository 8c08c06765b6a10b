import { randomUUID } from 'node:crypto';
import { accountOwner, type AccountOwner, type ApiFailure, type Login } from '../builders/accounts/accounts';
import {
  CompanySignIn,
  identityProvider,
  person,
  type IdentityProvider,
} from '../builders/sso/company-sign-in';
import type { Answer, ApiClient } from '../harness/product/api-client';
import { Drawbridge } from '../harness/product/drawbridge';
import { SignInIssuer, type IssuerPerson } from '../harness/issuers/sign-in-issuer';

/** An organization with two administrators: one by password, and one by company sign-in. */
interface Company {
  readonly recovery: AccountOwner;
  readonly provider: IdentityProvider;
  readonly signIns: CompanySignIn;
  readonly grace: IssuerPerson;
  /** signed in at the issuer */
  readonly admin: ApiClient;
}

interface Identity {
  readonly id: string;
  readonly userId: string | null;
  readonly userEmail: string | null;
}

describe('An organization that demands company sign-in', () => {
  const drawbridge = Drawbridge.shared({ worker: false });
  let issuer: SignInIssuer;

  beforeAll(async () => {
    issuer = await SignInIssuer.start();
  });
  afterAll(() => issuer.stop());

  async function company(): Promise<Company> {
    const recovery = await accountOwner(drawbridge);
    const provider = await identityProvider({ admin: recovery.client }, issuer);
    const grace = person();
    await recovery.client.created('/users', { email: grace.email, isOrgAdmin: true });
    const signIns = await CompanySignIn.of({ drawbridge, organizationId: recovery.organizationId });
    return { recovery, provider, signIns, grace, admin: await signIns.clientOf(issuer, grace) };
  }

  const demands = (client: ApiClient, change: object): Promise<Answer<ApiFailure>> =>
    client.patch<ApiFailure>('/organization', change);

  /** The same, and it demands company sign-in. */
  async function demanding(): Promise<Company> {
    const one = await company();
    const { admin, recovery } = one;
    await recovery.turnMfaOn();
    await admin.expect(200, demands(admin, { ssoRequired: true, recoveryAdministratorId: recovery.id }));
    return one;
  }

  const refused = ({ status, body }: Answer<ApiFailure>): unknown => [
    status,
    Object.entries(body.validationErrors ?? {})
      .map((one) => one.join(' '))
      .join() || body.message,
  ];
  const says = (text: string): string => expect.stringContaining(text) as string;

  it('is sure before that somebody can sign in by each of the two ways', async () => {
    const { recovery, admin, provider } = await company();
    const { id } = recovery;
    const on = { ssoRequired: true, recoveryAdministratorId: id };
    const member = await recovery.client.created<{ id: string }>('/users', {
      email: `${randomUUID()}@example.com`,
    });
    expect(refused(await demands(admin, { ssoRequired: true }))).toEqual([
      400,
      says('recoveryAdministratorId is needed'),
    ]);
    for (const nobody of [member.id, randomUUID(), id])
      expect(refused(await demands(admin, { ...on, recoveryAdministratorId: nobody }))).toEqual([
        400,
        says(
          'recoveryAdministratorId must be an active administrator of the organization with a password and MFA',
        ),
      ]);
    await recovery.turnMfaOn();
    expect(refused(await demands(recovery.client, on))).toEqual([
      400,
      says('ssoRequired can be set only by who'),
    ]);
    const path = `/identity-providers/${provider.id}`;
    await admin.expect(200, admin.patch(path, { trustsSecondFactor: true }));
    expect((await demands(admin, on)).body).toMatchObject(on);
    expect(refused(await admin.patch<ApiFailure>(path, { enabled: false }))).toEqual([
      400,
      says('has no other identity provider that is enabled'),
    ]);
    expect((await admin.delete<ApiFailure>(path)).status).toBe(400);
    expect(refused(await demands(admin, { recoveryAdministratorId: null }))).toEqual([
      400,
      says('recoveryAdministratorId is needed'),
    ]);
  });

  it('lets in no right password but that of the recovery administrator, and no sign-in by one', async () => {
    const one = await company();
    const { recovery, admin, signIns } = one;
    const [email, password] = [`${randomUUID()}@example.com`, `Aa1 ${randomUUID()}`];
    await admin.created('/users', { email, password });
    const { invitationUrl } = await admin.created<{ invitationUrl: string }>('/users', {
      email: `${randomUUID()}@example.com`,
    });
    const { api } = drawbridge;
    const login = <T>(given = password): Promise<Answer<T>> =>
      api.post<T>('/auth/login', { email, password: given });
    const before = await api.expect(200, login<Login>());
    const member = api.as({ token: before.accessToken });
    await recovery.organizationSets('subscription_tier', 'PAID');
    const key = await recovery.client.created<{ plainTextKey: string }>('/api-keys', {
      name: 'pipeline',
      scopes: ['sessions:read'],
      userId: before.user.id,
    });
    await recovery.turnMfaOn();
    await admin.expect(200, demands(admin, { ssoRequired: true, recoveryAdministratorId: recovery.id }));

    const inviteToken = invitationUrl.split('/').at(-1);
    const refusals = [
      await login<ApiFailure>(),
      await api.post<ApiFailure>('/auth/refresh', { refreshToken: before.refreshToken }),
      await api.post<ApiFailure>('/auth/set-password', { inviteToken, password }),
      await member.get<ApiFailure>('/auth/me'),
      await member.get<ApiFailure>('/sessions'),
    ];
    for (const { status, body } of refusals)
      expect([status, body]).toEqual([
        403,
        expect.objectContaining({
          error: 'Company sign-in required',
          message: says('drawbridge login --sso'),
        }),
      ]);
    expect((await login('a wrong password')).status).toBe(401);
    expect((await api.as({ apiKey: key.plainTextKey }).get('/sessions')).status).toBe(200);

    const { body } = await recovery.verify(await recovery.challenge(), recovery.code());
    const recovered = recovery.as(body);
    expect((await recovered.get('/users')).status).toBe(200);
    await recovered.expect(200, demands(recovered, { ssoRequired: false }));
    expect([(await login()).status, (await member.get('/sessions')).status]).toEqual([200, 200]);
    expect((await signIns.clientOf(issuer, one.grace)).identity).toBeDefined();
  });

  it('keeps its recovery administrator', async () => {
    const { recovery, admin } = await demanding();
    const path = `/users/${recovery.id}`;
    const fix = says('name another one with PATCH /organization first');
    for (const refusal of [
      admin.patch<ApiFailure>(path, { isOrgAdmin: false }),
      admin.patch<ApiFailure>(path, { isActive: false }),
      admin.delete<ApiFailure>(path),
      admin.post<ApiFailure>(`${path}/reset-mfa`),
      recovery.client.post<ApiFailure>('/mfa/disable', { code: recovery.code() }),
    ])
      expect(refused(await refusal)).toEqual([400, fix]);
    await admin.expect(200, demands(admin, { ssoRequired: false, recoveryAdministratorId: null }));
    expect((await admin.delete(path)).status).toBe(204);
  });

  it('ends the sign-ins of an identity that is unlinked, and of a provider that is disabled', async () => {
    const { recovery, provider, grace, signIns, admin } = await company();
    const other = await signIns.clientOf(issuer, grace);
    const path = `/identity-providers/${provider.id}`;
    const { client } = recovery;
    const [identity] = await client.expect(200, client.get<Identity[]>(`${path}/identities`));
    await client.expect(204, client.delete(`${path}/identities/${identity!.id}`));
    expect([(await admin.get('/users')).status, (await other.get('/users')).status]).toEqual([401, 401]);

    await expect(signIns.signedIn(issuer, grace)).rejects.toThrow('not-linked');
    const [waiting] = await client.expect(200, client.get<Identity[]>(`${path}/identities`));
    expect(waiting).toMatchObject({ userId: null, userEmail: null });
    const link = (userId: string): Promise<Answer<Identity>> =>
      client.put<Identity>(`${path}/identities/${waiting!.id}`, { userId });
    const service = await client.created<{ id: string }>('/users', { isService: true, name: 'pipeline' });
    expect([(await link(randomUUID())).status, (await link(service.id)).status]).toEqual([404, 400]);
    expect((await link(identity!.userId!)).body).toMatchObject({ userEmail: grace.email });
    expect((await link(recovery.id)).status).toBe(400);
    // she has no second factor to confirm it with
    const { authorize, verifier } = await signIns.begin();
    expect(await signIns.outcome(issuer.signIn(authorize, grace), verifier)).toBe('complete 403');
    await drawbridge.query('UPDATE user_identities SET needs_second_factor = false WHERE id = $1', [
      waiting!.id,
    ]);
    const again = await signIns.clientOf(issuer, grace);
    expect((await again.get('/users')).status).toBe(200);
    await client.expect(200, client.patch(path, { enabled: false }));
    expect((await again.get('/users')).status).toBe(401);
  });

  it('lets an administrator in as a colleague only with the colleague’s second factor', async () => {
    const { recovery, provider, signIns, admin } = await company();
    const path = `/identity-providers/${provider.id}`;
    await recovery.turnMfaOn();
    await admin.expect(200, admin.patch(path, { trustsSecondFactor: true }));
    const mallory = person({ more: { amr: ['mfa'] } });
    await expect(signIns.signedIn(issuer, mallory)).rejects.toThrow('not-linked');
    const identities = await admin.expect(200, admin.get<Identity[]>(`${path}/identities`));
    const waiting = identities.find(({ userId }) => userId === null)!;
    const link = { userId: recovery.id };
    for (let times = 0; times < 2; times += 1)
      await admin.expect(200, admin.put(`${path}/identities/${waiting.id}`, link));
    expect(await signIns.signedIn(issuer, mallory)).toMatchObject({ mfaRequired: true, accessToken: null });
    const { mfaChallengeToken } = await signIns.signedIn(issuer, mallory);
    expect((await recovery.verify(mfaChallengeToken, recovery.wrongCode())).status).toBe(401);
    expect((await recovery.verify(mfaChallengeToken, recovery.code())).status).toBe(200);
    expect(await signIns.signedIn(issuer, mallory)).toMatchObject({ mfaRequired: false });
  });

  it('keeps the issuer of its identities, and is never shown its secret', async () => {
    const { provider, admin } = await company();
    const path = `/identity-providers/${provider.id}`;
    const other = 'http://127.0.0.1:9';
    expect(refused(await admin.patch<ApiFailure>(path, { issuer: other }))).toEqual([
      400,
      says('issuer cannot be changed while there are identities'),
    ]);
    const { body } = await admin.get<object[]>('/identity-providers');
    expect(JSON.stringify(body)).not.toContain(issuer.client.secret);
    expect(body[0]).not.toHaveProperty('clientSecret');
  });

  it('makes nobody an operator of the platform', async () => {
    const { recovery, admin, grace } = await company();
    await drawbridge.query(`UPDATE users SET platform_role = 'SUPER_ADMIN' WHERE email = ANY ($1)`, [
      [grace.email, recovery.email],
    ]);
    const seen = (client: ApiClient): Promise<Answer> => client.get('/platform/organizations');
    expect([(await seen(admin)).status, (await seen(recovery.client)).status]).toEqual([403, 200]);
  });
});
