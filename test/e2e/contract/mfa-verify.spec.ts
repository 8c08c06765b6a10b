import { createHmac } from 'node:crypto';
import { accountOwner, ownerWithMfa, totpOf } from '../../builders/accounts/accounts';
import { Drawbridge } from '../../harness/product/drawbridge';

/** What does not tell which of the two it is. */
const WRONG_OR_USED = 'The code is wrong or was used before: wait for the next one';

describe('MFA: POST /auth/verify-mfa', () => {
  const drawbridge = Drawbridge.shared({ worker: false });

  it('a right password then gets a challenge of 300 seconds and no tokens', async () => {
    const owner = await ownerWithMfa(drawbridge);
    expect(await owner.loggedIn()).toEqual({
      mfaRequired: true,
      mfaChallengeToken: expect.any(String) as string,
      mfaChallengeExpiresIn: 300,
      mfaSetupRequired: false,
      passwordExpired: false,
      passwordChangeToken: null,
      accessToken: null,
      refreshToken: null,
      tokenType: null,
      expiresIn: null,
      deviceToken: null,
      user: null,
    });
  });

  it('a code of the authenticator signs in', async () => {
    const owner = await ownerWithMfa(drawbridge);
    const answer = await owner.verify(await owner.challenge(), owner.code());
    expect(answer).toMatchObject({
      status: 200,
      body: { mfaRequired: false, tokenType: 'Bearer', user: { email: owner.email, mfaEnabled: true } },
    });
    expect((await owner.as(answer.body).get('/sessions')).status).toBe(200);
  });

  it('a code is accepted once, also with three concurrent requests', async () => {
    const owner = await ownerWithMfa(drawbridge);
    const challenges = [await owner.challenge(), await owner.challenge(), await owner.challenge()];
    const code = owner.code();
    const answers = await Promise.all(challenges.map((token) => owner.verify(token, code)));
    expect(answers.map(({ status }) => String(status)).toSorted()).toEqual(['200', '401', '401']);
    expect((await owner.verify(await owner.challenge(), code)).status).toBe(401);
  });

  it('the code that confirmed the set-up does not sign in', async () => {
    const owner = await accountOwner(drawbridge);
    const { body } = await owner.client.post<{ secret: string }>('/mfa/setup');
    const code = totpOf(body.secret).generate();
    await owner.client.posted('/mfa/setup/confirm', { code });
    expect(await owner.verify(await owner.challenge(), code)).toMatchObject({
      status: 401,
      body: { message: WRONG_OR_USED },
    });
  });

  it('a recovery code signs in once, in any spelling', async () => {
    const owner = await ownerWithMfa(drawbridge);
    const [code] = owner.recoveryCodes;
    const spelled = ` ${code!.toUpperCase().replaceAll('-', ' ')}`;
    expect((await owner.verify(await owner.challenge(), spelled)).status).toBe(200);
    expect(await owner.verify(await owner.challenge(), code!)).toMatchObject({
      status: 401,
      body: { message: WRONG_OR_USED },
    });
  });

  it('one recovery code sent a hundred times at once gives exactly one success', async () => {
    const owner = await ownerWithMfa(drawbridge);
    const tokens = await Promise.all(Array.from({ length: 4 }, () => owner.challenge()));
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, index) => owner.verify(tokens[index % 4]!, owner.recoveryCodes[0]!)),
    );
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    expect(statuses.filter((status) => status !== 200 && status !== 401 && status !== 429)).toEqual([]);
  });

  it('one challenge allows one sign-in, even with several valid codes', async () => {
    const owner = await ownerWithMfa(drawbridge);
    const token = await owner.challenge();
    const answers = await Promise.all(
      owner.recoveryCodes.slice(0, 4).map((code) => owner.verify(token, code)),
    );
    expect(answers.map(({ status }) => String(status)).toSorted()).toEqual(['200', '401', '401', '401']);
    const [left] = await drawbridge.query<{ count: number }>(
      'SELECT count(*)::int AS count FROM recovery_codes WHERE user_id = $1 AND used_at IS NULL',
      [owner.id],
    );
    expect(left!.count).toBe(7);
  });

  it('a wrong code is 401 and is on record', async () => {
    const owner = await ownerWithMfa(drawbridge);
    const answer = await owner.verify(await owner.challenge(), owner.wrongCode());
    expect(answer).toMatchObject({ status: 401, body: { message: WRONG_OR_USED } });
    expect((await owner.verify(await owner.challenge(), 'no-such-code')).status).toBe(401);
    const records = await owner.audited('USER_LOGIN');
    expect(records.map(({ result }) => result)).toEqual(['FAILURE', 'FAILURE']);
  });

  it('after five tries the challenge is over, even for the right code', async () => {
    const owner = await ownerWithMfa(drawbridge);
    const token = await owner.challenge();
    for (let tries = 0; tries < 5; tries += 1) {
      expect((await owner.verify(token, owner.wrongCode())).status).toBe(401);
    }
    expect((await owner.verify(token, owner.recoveryCodes[0]!)).status).toBe(401);
    const records = await owner.audited('USER_LOGIN');
    expect(records.map(({ result }) => result)).toEqual(Array.from({ length: 6 }, () => 'FAILURE'));
    expect((await owner.verify(await owner.challenge(), owner.recoveryCodes[0]!)).status).toBe(200);
  });

  it('after 300 seconds the challenge is over', async () => {
    const owner = await ownerWithMfa(drawbridge);
    const token = await owner.challenge();
    const { exp, iat } = JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString()) as Record<
      'exp' | 'iat',
      number
    >;
    expect(exp - iat).toBe(300);
    await drawbridge.query(
      `UPDATE mfa_challenges SET expires_at = expires_at - interval '300 seconds' WHERE user_id = $1`,
      [owner.id],
    );
    expect((await owner.verify(token, owner.code())).status).toBe(401);
  });

  it('wrong codes lock the second factor only, and a correct password does not reset their count', async () => {
    const owner = await ownerWithMfa(drawbridge);
    let last = 0;
    for (let tries = 0; tries < 12 && last !== 429; tries += 1) {
      const login = await owner.login();
      last = login.status;
      if (last === 200) last = (await owner.verify(login.body.mfaChallengeToken, owner.wrongCode())).status;
    }
    expect(last).toBe(429);
    const refused = await owner.verify(await owner.challenge(), owner.recoveryCodes[0]!);
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await owner.audited('USER_LOCKED_OUT')).toMatchObject([{ result: 'FAILURE' }]);
  });

  it('takes no other token: an access token, one of another algorithm, none', async () => {
    const owner = await ownerWithMfa(drawbridge);
    const token = await owner.challenge();
    const [, payload] = token.split('.');
    const hs512 = `${Buffer.from('{"alg":"HS512","typ":"JWT"}').toString('base64url')}.${payload}`;
    const forged = [
      owner.first.accessToken,
      `${hs512}.${createHmac('sha512', drawbridge.jwtSecret).update(hs512).digest('base64url')}`,
      `${Buffer.from('{"alg":"none"}').toString('base64url')}.${payload}.`,
      'nonsense',
    ];
    for (const bad of forged) expect((await owner.verify(bad, owner.recoveryCodes[0]!)).status).toBe(401);
    expect((await owner.verify(token, owner.recoveryCodes[0]!)).status).toBe(200);
  });

  it('a challenge is worth nothing after its user was deactivated or the password changed', async () => {
    const owner = await ownerWithMfa(drawbridge);
    const before = await owner.challenge();
    const { password } = owner;
    await owner.client.posted('/auth/change-password', {
      currentPassword: password,
      newPassword: `${password}X`,
    });
    expect((await owner.verify(before, owner.recoveryCodes[0]!)).status).toBe(401);
    owner.password = `${password}X`;
    const after = await owner.challenge();
    await drawbridge.query('UPDATE users SET is_active = false WHERE id = $1', [owner.id]);
    expect((await owner.verify(after, owner.recoveryCodes[0]!)).status).toBe(401);
  });
});
