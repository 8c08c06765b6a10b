import { totpOf } from '../builders/accounts/accounts';
import { person, type SignedIn } from '../builders/sso/company-sign-in';
import { insiders } from '../builders/sso/insiders';
import { audited } from '../builders/accounts/people';
import { Drawbridge } from '../harness/product/drawbridge';
import { until } from '../harness/until';

/** Less than the thirty seconds that a request to an issuer may take: others do not wait for one. */
const SOON_MS = 20_000;

const drawbridge = Drawbridge.shared();
const { company, as, insider, isOpen, isClosed, due, vouched, keyOf, status } = insiders(drawbridge);

it('Somebody who left a group loses its role, and the access by it', async () => {
  const { org, issuer, ...others } = await company();
  const { who, client, sessionId, address } = await insider({ org, issuer, ...others });
  await vouched(org);
  expect(await isOpen(address)).toBe(true);
  who.groups = [];
  await due(org);
  await isClosed(address);
  expect(await org.session(sessionId)).toMatchObject({ endedReason: 'ADMIN', endedCause: 'ROLE_LOST' });
  expect(await client.expect(200, client.get('/auth/me'))).toMatchObject({ roleNames: [] });
  expect((await client.post('/sessions', { ipv4Address: address })).status).toBe(400);
  who.groups = ['operations'];
  await vouched(org);
  expect((await client.post('/sessions', { ipv4Address: address })).status).toBe(200);
});

it('Groups make administrators and take that away, but the last one stays', async () => {
  const { org, issuer, signIn } = await company();
  const who = person({ groups: ['admins'] });
  const client = as(await signIn.signedIn(issuer, who));
  expect(await status(client, '/identity-providers')).toBe(200);
  await drawbridge.query('UPDATE users SET is_org_admin = false WHERE id = $1', [org.adminId]);
  who.groups = [];
  await vouched(org);
  expect(await status(client, '/identity-providers')).toBe(200);
  await drawbridge.query('UPDATE users SET is_org_admin = true WHERE id = $1', [org.adminId]);
  await vouched(org);
  expect(await status(client, '/identity-providers')).toBe(403);
});

it('Somebody whom the issuer has disabled is signed out, without access and without API keys, until it vouches again', async () => {
  const { org, issuer, signIn } = await company();
  const { who, signedIn, client, sessionId, address } = await insider({
    org,
    issuer,
    signIn,
    providerId: '',
  });
  const { id, key } = await keyOf(org, signedIn);
  expect(await status(key, '/sessions')).toBe(200);
  who.disabled = true;
  await due(org);
  await isClosed(address);
  expect(await org.session(sessionId)).toMatchObject({
    endedReason: 'ADMIN',
    endedCause: 'REFUSED_BY_ISSUER',
  });
  expect([await status(client), await status(key, '/sessions')]).toEqual([401, 401]);
  const refreshed = await drawbridge.api.post('/auth/refresh', { refreshToken: signedIn.refreshToken });
  expect(refreshed.status).toBe(401);
  expect(await audited(drawbridge, org.organizationId, 'USER_REFUSED_BY_ISSUER')).toHaveLength(1);
  who.disabled = false;
  expect(await status(as(await signIn.signedIn(issuer, who)))).toBe(200);
  expect(await status(key, '/sessions')).toBe(200);
  const [kept] = await drawbridge.query('SELECT 1 FROM api_keys WHERE id = $1 AND revoked_at IS NULL', [id]);
  expect(kept).toBeDefined();
});

it('Somebody who has signed out, and then leaves, loses what went on without a sign-in', async () => {
  const { org, issuer, ...others } = await company();
  const { who, signedIn, address } = await insider({ org, issuer, ...others });
  const { key } = await keyOf(org, signedIn);
  const { refreshToken } = signedIn;
  await drawbridge.api.expect(200, drawbridge.api.post('/auth/logout', { refreshToken }));
  await vouched(org);
  expect([await status(key, '/sessions'), await isOpen(address)]).toEqual([200, true]);
  who.disabled = true;
  await due(org);
  await isClosed(address);
  expect(await status(key, '/sessions')).toBe(401);
});

it('Of two sign-ins the one that the issuer ends takes nothing from the other', async () => {
  const { org, issuer, signIn, ...others } = await company();
  const { who, client, address } = await insider({ org, issuer, signIn, ...others });
  issuer.forgetGrants();
  const second = as(await signIn.signedIn(issuer, who));
  // a check of the second that is under way would take the next time that is set for one
  await vouched(org);
  await until('the first has ended', async () => (await status(client)) === 401);
  expect([await status(second), await isOpen(address)]).toEqual([200, true]);
  issuer.forgetGrants();
  await due(org);
  await isClosed(address);
  expect(await status(second)).toBe(401);
});

it('A sign-in ends that its issuer has not vouched for in eight hours, and no access with it', async () => {
  const { org, issuer, ...others } = await company();
  const { client, address } = await insider({ org, issuer, ...others });
  issuer.isDown = true;
  await drawbridge.query(
    `UPDATE sso_sign_ins SET checked_at = now() - interval '8 hours', check_due_at = now() WHERE organization_id = $1`,
    [org.organizationId],
  );
  await until('it has ended', async () => (await status(client)) === 401);
  expect(await isOpen(address)).toBe(true);
});

it('An organization whose issuer does not answer takes no time from others', async () => {
  const [silent, healthy] = [await company(), await company()];
  const people = Array.from({ length: 30 }, () => person());
  for (const one of people) await silent.signIn.signedIn(silent.issuer, one);
  const { who, client, address } = await insider(healthy);
  silent.issuer.isSilent = true;
  const asked = silent.issuer.requests.length;
  await due(silent.org);
  await until('it is asked', async () => silent.issuer.requests.length > asked);
  who.disabled = true;
  await due(healthy.org);
  await until('the other is closed', async () => !(await isOpen(address)), SOON_MS);
  expect(await status(client)).toBe(401);
});

it('A sign-in of an issuer without refresh tokens ends after eight hours', async () => {
  const { org, issuer, signIn } = await company();
  issuer.givesRefreshTokens = false;
  const { refreshToken } = await signIn.signedIn(issuer, person());
  const refresh = (): Promise<{ status: number; body: SignedIn }> =>
    drawbridge.api.post<SignedIn>('/auth/refresh', { refreshToken });
  const [ends] = await drawbridge.query<{ hours: number }>(
    `SELECT extract(epoch FROM expires_at - signed_in_at)::float8 / 3600 AS hours FROM refresh_tokens t
     JOIN sso_sign_ins s USING (family_id) WHERE s.organization_id = $1`,
    [org.organizationId],
  );
  expect(ends!.hours).toBe(8);
  const aged = `UPDATE refresh_tokens t SET signed_in_at = now() - interval '8 hours' FROM sso_sign_ins s
    WHERE s.family_id = t.family_id AND s.organization_id = $1`;
  await drawbridge.query(aged, [org.organizationId]);
  expect((await refresh()).status).toBe(401);
});

it('Our second factor follows where the issuer has seen none, and the sign-in is checked as any other', async () => {
  const { org, issuer, signIn } = await company();
  const who = person();
  const client = as(await signIn.signedIn(issuer, who));
  const { secret } = await client.posted<{ secret: string }>('/mfa/setup');
  const codeIn = (steps: number): string =>
    totpOf(secret).generate({ timestamp: Date.now() + steps * 30_000 });
  await client.posted('/mfa/setup/confirm', { code: codeIn(0) });
  const { mfaRequired, mfaChallengeToken, accessToken } = await signIn.signedIn(issuer, who);
  expect([mfaRequired, accessToken]).toEqual([true, null]);
  const answer = await drawbridge.api.posted<SignedIn>('/auth/verify-mfa', {
    mfaChallengeToken,
    code: codeIn(1),
  });
  expect(await status(as(answer))).toBe(200);
  const logins = await audited(drawbridge, org.organizationId, 'USER_LOGIN');
  expect(logins.at(-1)!.details).toHaveProperty('identityProvider');
  who.disabled = true;
  await due(org);
  await until('the sign-in has ended', async () => (await status(as(answer))) === 401);
});
