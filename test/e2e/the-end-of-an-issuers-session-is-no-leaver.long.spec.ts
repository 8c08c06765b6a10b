import { person } from '../builders/sso/company-sign-in';
import { insiders, type Company, type Insider } from '../builders/sso/insiders';
import { type Organization } from '../builders/accounts/organization';
import { audited } from '../builders/accounts/people';
import { Drawbridge } from '../harness/product/drawbridge';
import { until } from '../harness/until';

const drawbridge = Drawbridge.shared();
const { company, as, insider, isOpen, isClosed, due, keyOf, status } = insiders(drawbridge);

const SESSION_OVER = { error: 'invalid_grant', error_description: 'Session not active' };

/** The issuer's session with somebody is over, and the sign-in with it. */
async function sessionOver(
  { org, issuer }: Company,
  { who, client }: Pick<Insider, 'who' | 'client'>,
): Promise<void> {
  issuer.refusal = SESSION_OVER;
  who.disabled = true;
  await due(org);
  await until('the sign-in has ended', async () => (await status(client)) === 401);
}

/** The end of that session is so long ago. */
const longOver = ({ organizationId }: Organization, hours: number): Promise<unknown> =>
  drawbridge.query(
    'UPDATE users SET sso_session_over_at = now() - make_interval(hours => $2) WHERE organization_id = $1 AND sso_session_over_at IS NOT NULL',
    [organizationId, hours],
  );

it('When the issuer’s own session is over, API keys and open access go on, until somebody has not signed in again in time', async () => {
  const at = await company();
  const { org } = at;
  const ada = await insider(at);
  const { key } = await keyOf(org, ada.signedIn);
  await sessionOver(at, ada);
  expect([await status(key, '/sessions'), await isOpen(ada.address)]).toEqual([200, true]);
  const [ended] = await audited(drawbridge, org.organizationId, 'COMPANY_SIGN_IN_ENDED');
  expect(ended!.details).toMatchObject({
    reason: 'SESSION_OVER',
    accessEndsAt: expect.any(String) as string,
  });
  await longOver(org, 23);
  ada.who.disabled = false;
  expect(await status(as(await at.signIn.signedIn(at.issuer, ada.who)))).toBe(200);
  await longOver(org, 25);
  const again = as(await at.signIn.signedIn(at.issuer, ada.who));
  await org.admin.expect(200, org.admin.patch('/organization/settings', { reSignInGraceHours: 72 }));
  await sessionOver(at, { who: ada.who, client: again });
  await longOver(org, 71);
  expect([await status(key, '/sessions'), await isOpen(ada.address)]).toEqual([200, true]);
  await longOver(org, 72);
  await isClosed(ada.address);
  expect(await org.session(ada.sessionId)).toMatchObject({ endedCause: 'NOT_SIGNED_IN_AGAIN' });
  expect(await status(key, '/sessions')).toBe(401);
  expect(await audited(drawbridge, org.organizationId, 'USER_REFUSED_BY_ISSUER')).toEqual([]);
  ada.who.disabled = false;
  await at.signIn.signedIn(at.issuer, ada.who);
  expect(await status(key, '/sessions')).toBe(200);
});

it('With no hours to sign in again, access ends with the issuer’s session', async () => {
  const at = await company();
  const ada = await insider(at);
  await at.org.admin.expect(200, at.org.admin.patch('/organization/settings', { reSignInGraceHours: 0 }));
  await sessionOver(at, ada);
  expect(await isClosed(ada.address)).toBe(true);
});

it('An ID token suffices: a user info that fails refuses nobody, and leaves groups as they are', async () => {
  const { org, issuer, signIn, providerId } = await company();
  const who = person({ groups: ['operations'] });
  await signIn.signedIn(issuer, who);
  delete who.groups;
  for (const userinfoStatus of [401, 403, 404, 503]) {
    const client = as(await signIn.signedIn(issuer, who, { userinfoStatus }));
    expect(await client.expect(200, client.get('/auth/me'))).toMatchObject({
      roleNames: [expect.anything()],
    });
  }
  await signIn.signedIn(issuer, person());
  const { body } = await org.admin.get<{ lastError: string }>(`/identity-providers/${providerId}`);
  expect(body.lastError).toContain('its userinfo cannot be read');
});

it('An issuer may date its tokens back, by more than Entra ID does', async () => {
  const { issuer, signIn } = await company();
  const iat = Math.floor(Date.now() / 1000);
  for (const back of [299, 301, 420, 86_700]) {
    const claims = { iat: iat - back, nbf: iat - back };
    expect(await status(as(await signIn.signedIn(issuer, person(), { claims })))).toBe(200);
  }
});
