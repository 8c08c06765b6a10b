import { randomUUID } from 'node:crypto';
import { CompanySignIn, DOMAIN, identityProvider, person } from '../builders/sso/company-sign-in';
import type { SignInBench } from '../builders/sso/forged-answers';
import { FORGED_SIGN_INS } from '../builders/sso/forged-sign-ins';
import { organization } from '../builders/accounts/organization';
import { Drawbridge } from '../harness/product/drawbridge';
import { newKey } from '../harness/issuers/oidc-issuer';
import { SignInIssuer } from '../harness/issuers/sign-in-issuer';

const MIN_FORGERIES = 80;

const drawbridge = Drawbridge.shared();
const issuers: SignInIssuer[] = [];
let bench: SignInBench;

const startIssuer = async (): Promise<SignInIssuer> => {
  const issuer = await SignInIssuer.start();
  issuers.push(issuer);
  return issuer;
};

/** Somebody whom the organization has invited, and who has signed in. */
async function linked({ org, signIn, issuer }: Omit<SignInBench, 'ada'>): Promise<SignInBench['ada']> {
  const ada = person();
  await org.admin.created('/users', { email: ada.email });
  await signIn.signedIn(issuer, ada);
  return ada;
}

beforeAll(async () => {
  const [issuer, otherIssuer] = [await startIssuer(), await startIssuer()];
  const [org, other] = [await organization(drawbridge), await organization(drawbridge)];
  const { id: providerId } = await identityProvider(org, issuer);
  await identityProvider(other, otherIssuer);
  const [signIn, others] = [await CompanySignIn.of(org), await CompanySignIn.of(other)];
  const stranger = await newKey('RS256', 'stranger');
  const made = { org, signIn, issuer, providerId, other: others, otherIssuer, stranger };
  bench = { ...made, ada: await linked(made) };
});
beforeEach(() => {
  bench.issuer.checksVerifiers = true;
});
afterAll(() => Promise.all(issuers.map((issuer) => issuer.stop())));

describe('A forged or mixed-up sign-in', () => {
  it.each(FORGED_SIGN_INS)('with %s ends: %s', async (_, end, attempt) => {
    expect(await attempt(bench)).toBe(end);
  });

  it(`of at least ${MIN_FORGERIES} kinds, beside which the honest one gets in`, async () => {
    expect(FORGED_SIGN_INS.length).toBeGreaterThanOrEqual(MIN_FORGERIES);
    const { signIn, issuer, ada } = bench;
    for (const returnTo of ['code', 'console', '49152']) {
      const { authorize, verifier } = await signIn.begin({ returnTo });
      expect(await signIn.outcome(issuer.signIn(authorize, ada), verifier)).toBe('in');
    }
  });

  it('returns to fixed places, whatever the callback says', async () => {
    const { signIn, issuer, ada } = bench;
    const places: string[] = [];
    for (const returnTo of ['code', 'console', '49152']) {
      const { authorize } = await signIn.begin({ returnTo });
      const callback = issuer.signIn(authorize, ada);
      for (const name of ['returnTo', 'redirect_uri', 'return_to', 'next'])
        callback.searchParams.set(name, 'https://evil.example');
      places.push((await signIn.answer(callback)).place.replace(/^http:\/\/localhost:\d+/, ''));
    }
    expect(places).toEqual(['/sign-in/sso-code', '/sign-in/sso', 'http://127.0.0.1:49152/callback']);
  });
});

describe('An honest issuer', () => {
  it('joins nobody by the e-mail address of another issuer', async () => {
    const { org, signIn, ada } = bench;
    const second = await startIssuer();
    const { id: provider } = await identityProvider(org, second);
    const begin = (): ReturnType<CompanySignIn['begin']> => signIn.begin({ provider });
    const { authorize, verifier } = await begin();
    expect(await signIn.outcome(second.signIn(authorize, ada), verifier)).toBe('error not-linked');
    const waiting = await org.admin.expect(
      200,
      org.admin.get<{ id: string; userId: string | null }[]>(`/identity-providers/${provider}/identities`),
    );
    expect(waiting.map(({ userId }) => userId)).toEqual([null]);
    const [user] = await drawbridge.query<{ id: string }>('SELECT id FROM users WHERE email = $1', [
      ada.email,
    ]);
    await org.admin.send('PUT', `/identity-providers/${provider}/identities/${waiting[0]!.id}`, {
      userId: user!.id,
    });
    const again = await begin();
    // the account is in use, and has no second factor of its own to confirm that with
    expect(await signIn.outcome(second.signIn(again.authorize, ada), again.verifier)).toBe('complete 403');
    await org.admin.delete(`/identity-providers/${provider}`);
  });

  it('creates accounts where it may, once for each address', async () => {
    const { issuer } = bench;
    const org = await organization(drawbridge);
    await identityProvider(org, issuer, { createUsers: true });
    const signIn = await CompanySignIn.of(org);
    const grace = person();
    const twice = await Promise.all([signIn.begin(), signIn.begin()]);
    const outcomes = await Promise.all(
      twice.map(({ authorize, verifier }) => signIn.outcome(issuer.signIn(authorize, grace), verifier)),
    );
    expect(outcomes).toEqual(['in', 'in']);
    const { authorize, verifier } = await signIn.begin();
    const double = { ...grace, sub: randomUUID() };
    expect(await signIn.outcome(issuer.signIn(authorize, double), verifier)).toBe('error not-linked');
    const elsewhere = await signIn.begin();
    const outsider = person({ email: `${randomUUID()}@not-${DOMAIN}` });
    expect(await signIn.outcome(issuer.signIn(elsewhere.authorize, outsider), elsewhere.verifier)).toBe(
      'error not-linked',
    );
  });

  it('takes the place of the second factor where it is trusted', async () => {
    const { issuer } = bench;
    const org = await organization(drawbridge);
    const { id } = await identityProvider(org, issuer, { createUsers: true });
    const signIn = await CompanySignIn.of(org);
    await drawbridge.query('UPDATE organizations SET mfa_required = true WHERE id = $1', [
      org.organizationId,
    ]);
    const proven = person({ more: { amr: ['pwd', 'otp'] } });
    expect((await signIn.signedIn(issuer, proven)).mfaSetupRequired).toBe(true);
    await drawbridge.query('UPDATE identity_providers SET trusts_second_factor = true WHERE id = $1', [id]);
    expect((await signIn.signedIn(issuer, proven)).mfaSetupRequired).toBe(false);
    expect((await signIn.signedIn(issuer, { ...proven, more: { amr: ['pwd'] } })).mfaSetupRequired).toBe(
      true,
    );
  });
});
