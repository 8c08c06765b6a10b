import { randomUUID } from 'node:crypto';
import {
  CompanySignIn,
  identityProvider,
  person,
  type IdentityProvider,
} from '../builders/sso/company-sign-in';
import { organization, type Organization } from '../builders/accounts/organization';
import { audited, newcomer } from '../builders/accounts/people';
import { Drawbridge } from '../harness/product/drawbridge';
import { newKey } from '../harness/issuers/oidc-issuer';
import { SignInIssuer } from '../harness/issuers/sign-in-issuer';

interface Check {
  readonly name: string;
  readonly ok: boolean;
  readonly message: string;
}

interface Identity {
  readonly email: string | null;
  readonly name: string | null;
  readonly username: string | null;
}

describe('An identity provider', () => {
  const drawbridge = Drawbridge.shared({ worker: false });
  let issuer: SignInIssuer;
  let org: Organization;
  let signIns: CompanySignIn;
  let provider: IdentityProvider;

  beforeEach(async () => {
    issuer = await SignInIssuer.start();
    org = await organization(drawbridge);
    provider = await identityProvider(org, issuer, { createUsers: true, groupsClaim: 'groups' });
    signIns = await CompanySignIn.of(org);
  });
  afterEach(() => issuer.stop());

  const change = (body: object): Promise<unknown> =>
    org.admin.expect(200, org.admin.patch(`/identity-providers/${provider.id}`, body));
  /** The messages of the checks that its test does not pass. */
  async function failed(): Promise<string[]> {
    const path = `/identity-providers/${provider.id}/test`;
    const { ok, checks } = await org.admin.expect(
      200,
      org.admin.post<{ ok: boolean; checks: Check[] }>(path),
    );
    const problems = checks.filter((check) => !check.ok).map(({ message }) => message);
    expect(ok).toBe(problems.length === 0);
    return problems;
  }
  const lastError = async (): Promise<string | null> =>
    (await org.admin.expect(200, org.admin.get<IdentityProvider>(`/identity-providers/${provider.id}`)))
      .lastError;
  const says = (text: string): string => expect.stringContaining(text) as string;

  it('that works passes its test', async () => expect(await failed()).toEqual([]));

  it('that takes the secret in the body gets it there', async () => {
    issuer.metadata = {
      token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
    };
    expect(await failed()).toEqual([]);
  });

  it.each([
    [
      'algorithms',
      { id_token_signing_alg_values_supported: ['HS256'] },
      'it signs ID tokens with none of RS256',
    ],
    [
      'proofs of a client',
      { token_endpoint_auth_methods_supported: ['private_key_jwt'] },
      'it takes no client secret',
    ],
    ['members of the right type,', { response_types_supported: 7 }, 'OpenID Connect demands'],
    ['challenges', { code_challenge_methods_supported: ['plain'] }, 'it does not name S256'],
  ])(
    'without %s that are usable fails its test for the reason that sign-ins end',
    async (_, metadata, reason) => {
      issuer.metadata = metadata;
      expect((await failed()).map((message) => message.toLowerCase())).toEqual([says(reason.toLowerCase())]);
      await signIns.start();
      expect(await lastError()).toContain(reason);
    },
  );

  it('with a wrong client secret, redirect URI or scope fails its test', async () => {
    issuer.silently = null;
    expect(await failed()).toEqual([says('It refuses a sign-in (404): compare client ID and redirect URI')]);
    issuer.silently = 'invalid_scope';
    expect(await failed()).toEqual(['It refuses a sign-in with invalid_scope']);
    issuer.silently = 'login_required';
    await change({ clientSecret: 'another' });
    expect(await failed()).toEqual([says('invalid_client')]);
  });

  it('may be given as people paste its address, with a slash at its end or without', async () => {
    issuer.metadata = { issuer: `${issuer.url}/` };
    const pasted = ` ${issuer.url}/.well-known/openid-configuration?appid=1 `;
    await change({ issuer: pasted });
    expect(await failed()).toEqual([]);
    const claims = { iss: `${issuer.url}/` };
    const { authorize, verifier } = await signIns.begin();
    const callback = issuer.signIn(authorize, person(), { claims });
    callback.searchParams.set('iss', `${issuer.url}/`);
    expect(await signIns.outcome(callback, verifier)).toBe('in');
    issuer.metadata = { issuer: 'https://login.example.com/{tenant}/v2.0' };
    expect(await failed()).toEqual([
      says(`names another issuer, https://login.example.com/{tenant}/v2.0, instead of ${issuer.url}`),
    ]);
  });

  it('may have another key under the name of the former one', async () => {
    await signIns.signedIn(issuer, person());
    issuer.keys = [await newKey('RS256', 'first')];
    expect(await signIns.signedIn(issuer, person())).toMatchObject({ mfaRequired: false });
    // once in a while: forged signatures are no reason to ask it again and again
    const before = issuer.requests.filter((path) => path === '/keys').length;
    const { authorize, verifier } = await signIns.begin();
    const forged = issuer.signIn(authorize, person(), { key: await newKey('RS256', 'first') });
    expect(await signIns.outcome(forged, verifier)).toBe('error invalid');
    expect(issuer.requests.filter((path) => path === '/keys')).toHaveLength(before);
  });

  it('shows who waits by name, and keeps colleagues when strangers come', async () => {
    await drawbridge.query(
      `INSERT INTO user_identities (organization_id, provider_id, subject, email, last_seen_at)
       SELECT $1, $2, 'stranger ' || n, n || '@elsewhere.example', now() + interval '1 minute' FROM generate_series(1, 120) n`,
      [org.organizationId, provider.id],
    );
    const more = { name: 'Grace Hopper', preferred_username: 'ghopper' };
    const waiting = person({ email_verified: false, more });
    await expect(signIns.signedIn(issuer, waiting)).rejects.toThrow('not-linked');
    const path = `/identity-providers/${provider.id}/identities?size=100`;
    const { body } = await org.admin.get<Identity[]>(path);
    expect(body).toHaveLength(100);
    expect(body).toContainEqual(
      expect.objectContaining({ email: waiting.email, name: 'Grace Hopper', username: 'ghopper' }),
    );
  });

  it('says why nobody got an account', async () => {
    await drawbridge.query(`UPDATE organizations SET subscription_tier = 'FREE' WHERE id = $1`, [
      org.organizationId,
    ]);
    for (let users = 0; users < 4; users += 1) await newcomer(drawbridge, org.admin);
    await expect(signIns.signedIn(issuer, person())).rejects.toThrow('not-linked');
    const [written] = await drawbridge.query<{ reason: string }>(
      `SELECT error_message AS reason FROM audit_records WHERE organization_id = $1 AND event_type = 'USER_LOGIN'
         AND result = 'FAILURE' ORDER BY sequence DESC LIMIT 1`,
      [org.organizationId],
    );
    expect(written!.reason).toContain('the plan has no room for another user');
  });

  it('names a code of Entra ID, and no other words of an issuer', async () => {
    const { authorize } = await signIns.begin();
    const callback = issuer.signIn(authorize, person());
    callback.searchParams.delete('code');
    callback.searchParams.set('error', 'access_denied');
    callback.searchParams.set('error_description', 'AADSTS50105: Call 0900 to be let in');
    expect((await signIns.answer(callback)).told.get('error')).toBe('denied');
    const [written] = await drawbridge.query<{ reason: string }>(
      `SELECT error_message AS reason FROM audit_records WHERE organization_id = $1 AND result = 'FAILURE'`,
      [org.organizationId],
    );
    expect(written!.reason).toMatch(/access_denied \(AADSTS50105\)$/);
  });

  it('whose answer comes twice leads to a page that says so', async () => {
    const { authorize, verifier } = await signIns.begin();
    const callback = issuer.signIn(authorize, person());
    expect(await signIns.outcome(callback, verifier)).toBe('in');
    const again = await signIns.answer(callback);
    expect([again.status, new URL(again.place).pathname, again.told.get('error')]).toEqual([
      302,
      '/sign-in/sso',
      'over',
    ]);
  });

  it('may name groups with characters that no database takes', async () => {
    expect(await signIns.signedIn(issuer, person({ groups: ['admins\u0000', 'developers'] }))).toMatchObject({
      mfaRequired: false,
    });
  });

  it('takes no address that nobody could be invited by', async () => {
    for (const email of ['a,b@example.com', '<x>@example.com', 'g:u17@example.com'])
      await expect(signIns.signedIn(issuer, person({ email }))).rejects.toThrow('not-linked');
  });

  describe('changes the address of a person', () => {
    const emailOf = async (id: string): Promise<string> =>
      (await org.admin.expect(200, org.admin.get<{ email: string }>(`/users/${id}`))).email;

    it('whose account takes it over, on record', async () => {
      const grace = person();
      const { user } = await signIns.signedIn(issuer, grace);
      const married = `${randomUUID()}@example.com`;
      await signIns.signedIn(issuer, { ...grace, email: married });
      expect(await emailOf(user!.id)).toBe(married);
      const [written] = await audited(drawbridge, org.organizationId, 'USER_UPDATED');
      expect(written).toMatchObject({
        actorType: 'SYSTEM',
        details: { changed: { email: { from: grace.email, to: married } } },
      });
    });

    it.each([
      ['of an operator of the platform', `UPDATE users SET platform_role = 'SUPPORT' WHERE id = $1`, {}],
      [
        'who has not confirmed the identity',
        'UPDATE user_identities SET needs_second_factor = true WHERE user_id = $1',
        {},
      ],
      [
        'whose address was of another domain',
        `UPDATE users SET email = 'grace@elsewhere.example' WHERE id = $1`,
        {},
      ],
      ['to one that is not verified', 'SELECT $1', { email_verified: false }],
      ['to one of another domain', 'SELECT $1', { email: 'grace@elsewhere.example' }],
    ])('%s: it stays', async (_, given, claims) => {
      const grace = person();
      const { user } = await signIns.signedIn(issuer, grace);
      await drawbridge.query(given, [user!.id]);
      const before = await emailOf(user!.id);
      const { authorize } = await signIns.begin();
      await signIns.answer(
        issuer.signIn(authorize, { ...grace, email: `${randomUUID()}@example.com`, ...claims }),
      );
      expect(await emailOf(user!.id)).toBe(before);
    });

    it('to that of a colleague: it stays', async () => {
      const [grace, colleague] = [person(), await newcomer(drawbridge, org.admin)];
      const { user } = await signIns.signedIn(issuer, grace);
      await signIns.signedIn(issuer, { ...grace, email: colleague.email });
      expect(await emailOf(user!.id)).toBe(grace.email);
    });
  });
});
