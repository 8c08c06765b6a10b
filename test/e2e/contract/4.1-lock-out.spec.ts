import { randomUUID } from 'node:crypto';
import {
  accountCalls,
  accountOwner,
  mailedToken,
  ownerWithMfa,
  type AccountOwner,
  type ApiFailure,
} from '../../builders/accounts/accounts';
import type { Answer } from '../../harness/product/api-client';
import { Drawbridge } from '../../harness/product/drawbridge';

const WRONG = { password: 'wrong' };
const address = (): string => `${randomUUID()}@example.com`;

describe('4.1 Accounts and tokens: lock-out', () => {
  const drawbridge = Drawbridge.shared({ worker: false });

  const { post, refresh } = accountCalls(() => drawbridge);
  const slugOf = (owner: AccountOwner) => ({ organizationSlug: owner.first.user.organizationSlug });
  const statuses = (answers: readonly Answer<unknown>[]): number[] => answers.map(({ status }) => status);
  /** Ten wrong passwords at once. */
  const burst = async (owner: AccountOwner, given: object = {}): Promise<number[]> =>
    statuses(await Promise.all(Array.from({ length: 10 }, () => owner.login({ ...WRONG, ...given }))));
  /** As eight wrong passwords leave it, with the slug and without. */
  const locked = (owner: AccountOwner): Promise<object[]> =>
    drawbridge.query(
      `INSERT INTO sign_in_failures (account_key, failures, last_failed_at, locked_until)
       SELECT 'password ' || slug || '/' || $1, 8, now(), now() + interval '1 minute'
       FROM unnest(ARRAY['', $2]) AS slug
       ON CONFLICT (account_key) DO UPDATE SET failures = excluded.failures, locked_until = excluded.locked_until`,
      [owner.email, owner.first.user.organizationSlug],
    );

  describe('repeated failures', () => {
    const fail = async (email: string, times: number): Promise<number[]> => {
      const seen: number[] = [];
      for (let tries = 0; tries < times; tries += 1)
        seen.push((await post('login', { email, ...WRONG })).status);
      return seen;
    };
    const lock = async (email: string): Promise<void> => {
      const many = Array.from({ length: 10 }, () => post('login', { email, ...WRONG }));
      expect(statuses(await Promise.all(many))).toContain(429);
    };

    it('then the account is refused for a while: 429 with Retry-After, even for the right password', async () => {
      const owner = await accountOwner(drawbridge);
      expect(await fail(owner.email, 9)).toEqual([401, 401, 401, 401, 401, 401, 401, 401, 429]);
      const refused = await owner.login<ApiFailure>();
      expect(refused).toMatchObject({ status: 429, body: { error: 'Too Many Requests' } });
      const seconds = Number(refused.headers.get('retry-after'));
      expect(seconds).toBeGreaterThan(0);
      expect(seconds).toBeLessThanOrEqual(60);
      expect(await owner.audited('USER_LOCKED_OUT')).toMatchObject([{ result: 'FAILURE' }]);
    });

    it.each([false, true])(
      'regardless of the spelling and the client address, with a slug: %s',
      async (named) => {
        const owner = await accountOwner(drawbridge);
        const { organizationSlug } = owner.first.user;
        const slug = named ? { organizationSlug } : {};
        const spellings = [owner.email, owner.email.toUpperCase(), `  ${owner.email} `];
        let last = 0;
        for (let index = 0; index < 12 && last !== 429; index += 1) {
          const body = { email: spellings[index % 3], password: 'wrong', ...slug };
          const headers = { 'X-Forwarded-For': `203.0.113.${index}` };
          last = (await drawbridge.api.post('/auth/login', body, headers)).status;
        }
        expect(last).toBe(429);
        const elsewhere = { 'X-Forwarded-For': '198.51.100.9' };
        const body = { email: owner.email, password: owner.password, ...slug };
        expect((await drawbridge.api.post('/auth/login', body, elsewhere)).status).toBe(429);
      },
    );

    it('the same for an account that does not exist', async () => {
      const email = address();
      await lock(email);
      expect(await fail(email, 1)).toEqual([429]);
    });

    it('of fifty attempts at once no more are compared than of fifty in a row', async () => {
      const email = address();
      const many = Array.from({ length: 50 }, () => post('login', { email, ...WRONG }));
      const seen = statuses(await Promise.all(many));
      expect(seen.filter((status) => status === 401).length).toBeLessThanOrEqual(8);
      expect(seen.filter((status) => status === 401 || status === 429)).toHaveLength(50);
    });

    it('another account is not touched', async () => {
      const owner = await accountOwner(drawbridge);
      await lock(address());
      expect((await owner.login()).status).toBe(200);
    });

    it('a success resets the count', async () => {
      const owner = await accountOwner(drawbridge);
      await fail(owner.email, 4);
      await owner.loggedIn();
      expect(await fail(owner.email, 4)).toEqual([401, 401, 401, 401]);
    });

    it('after a while the account may be tried again, and the next lock is longer', async () => {
      const owner = await accountOwner(drawbridge);
      await lock(owner.email);
      const pass = (): Promise<object[]> =>
        drawbridge.query('UPDATE sign_in_failures SET locked_until = now() WHERE account_key = $1', [
          `password /${owner.email}`,
        ]);
      await pass();
      expect(await fail(owner.email, 1)).toEqual([401]);
      const refused = await owner.login();
      expect(refused.status).toBe(429);
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(60);
      await pass();
      expect((await owner.login()).status).toBe(200);
    });

    it('a lock does not affect a signed-in user: requests, refresh and a change of password succeed', async () => {
      const owner = await accountOwner(drawbridge);
      await lock(owner.email);
      expect((await owner.client.get('/sessions')).status).toBe(200);
      expect((await refresh(owner.first)).status).toBe(200);
      const body = { currentPassword: owner.password, newPassword: `${owner.password}X` };
      expect((await owner.client.post('/auth/change-password', body)).status).toBe(200);
    });
  });

  describe('strangers in an organization of their own with the same e-mail', () => {
    it.each([
      ['with the slug', (owner: AccountOwner) => slugOf(owner)],
      ['without', () => ({})],
    ])('a success there does not clear what failed here, %s', async (_, named) => {
      const victim = await accountOwner(drawbridge);
      const own = await accountOwner(drawbridge, { email: victim.email });
      const seen: number[] = [];
      for (let tries = 0; tries < 9 && !seen.includes(429); tries += 1) {
        seen.push((await victim.login({ ...WRONG, ...named(victim) })).status);
        // refused without the slug once the e-mail is locked
        seen.push((await own.login(slugOf(own))).status);
      }
      expect(seen).toContain(429);
    });

    it('does not test passwords without a limit: a sign-in there is an attempt here', async () => {
      const victim = await accountOwner(drawbridge);
      const own = await accountOwner(drawbridge, { email: victim.email });
      const seen: number[] = [];
      for (let tries = 0; tries < 9; tries += 1) seen.push((await own.login()).status);
      expect(seen.slice(0, 2)).toEqual([200, 200]);
      expect(seen.at(-1)).toBe(429);
    });

    it('does not lock out a sign-in that names the organization', async () => {
      const victim = await accountOwner(drawbridge);
      const own = await accountOwner(drawbridge, { email: victim.email });
      await locked(own);
      expect((await victim.login(slugOf(victim))).status).toBe(200);
    });
  });

  describe('strangers at the second factor', () => {
    it('wrong passwords do not lock it, and wrong codes do not lock the password', async () => {
      const owner = await ownerWithMfa(drawbridge);
      const token = await owner.challenge();
      await locked(owner);
      expect((await owner.verify(token, owner.recoveryCodes[0]!)).status).toBe(200);
      const tokens = [await owner.challenge(), await owner.challenge()];
      const guesses = Array.from({ length: 10 }, (_, index) =>
        owner.verify(tokens[index % 2]!, owner.wrongCode()),
      );
      expect(statuses(await Promise.all(guesses))).toContain(429);
      expect((await owner.login()).status).toBe(200);
    });

    it('a right code clears nothing while the password is still to be changed', async () => {
      const owner = await ownerWithMfa(drawbridge);
      const tokens = [await owner.challenge(), await owner.challenge()];
      for (let tries = 0; tries < 4; tries += 1) await owner.verify(tokens[0]!, owner.wrongCode());
      await owner.organizationSets('password_expiration_days', 1);
      await drawbridge.query(
        `UPDATE users SET password_changed_at = now() - interval '2 days' WHERE id = $1`,
        [owner.id],
      );
      const next = await owner.verify(tokens[1]!, owner.recoveryCodes[0]!);
      expect(next).toMatchObject({ status: 200, body: { passwordExpired: true } });
      const [counter] = await drawbridge.query<{ failures: number }>(
        'SELECT failures FROM sign_in_failures WHERE account_key = $1',
        [`code ${owner.id}`],
      );
      expect(counter).toEqual({ failures: 4 });
    });
  });

  describe('strangers do not lock out a device that has signed in before', () => {
    it('its token signs in while other clients are refused', async () => {
      const owner = await accountOwner(drawbridge);
      const { deviceToken } = await owner.loggedIn();
      await locked(owner);
      expect((await owner.login()).status).toBe(429);
      const again = await owner.login({ deviceToken });
      expect(again).toMatchObject({ status: 200, body: { deviceToken } });
      expect((await owner.login({ deviceToken, ...slugOf(owner) })).status).toBe(200);
      expect((await owner.login()).status).toBe(429);
    });

    it('registering makes one too', async () => {
      const owner = await accountOwner(drawbridge);
      await locked(owner);
      expect((await owner.login({ deviceToken: owner.first.deviceToken })).status).toBe(200);
    });

    it('also at the second factor', async () => {
      const owner = await ownerWithMfa(drawbridge);
      const first = await owner.verify(await owner.challenge(), owner.recoveryCodes[0]!);
      const { deviceToken } = first.body;
      const tokens = [await owner.challenge(), await owner.challenge(), await owner.challenge()];
      await Promise.all(
        Array.from({ length: 10 }, (_, index) => owner.verify(tokens[index % 2]!, owner.wrongCode())),
      );
      const code = owner.recoveryCodes[1]!;
      expect((await owner.verify(tokens[2]!, code)).status).toBe(429);
      const own = { mfaChallengeToken: tokens[2], code, deviceToken };
      expect((await post('verify-mfa', own)).status).toBe(200);
    });

    it('its allowance is small', async () => {
      const owner = await accountOwner(drawbridge);
      const { deviceToken } = await owner.loggedIn();
      await locked(owner);
      const seen = await burst(owner, { deviceToken });
      expect(seen.filter((status) => status === 401).length).toBeLessThanOrEqual(5);
      expect(seen).toContain(429);
    });

    it('a device of another account has none, nor has a token that was never given out', async () => {
      const owner = await accountOwner(drawbridge);
      const other = await accountOwner(drawbridge, { email: owner.email });
      await locked(owner);
      for (const deviceToken of [other.first.deviceToken, randomUUID()]) {
        expect((await owner.login({ deviceToken, ...slugOf(owner) })).status).toBe(429);
      }
      expect((await owner.login({ deviceToken: randomUUID() })).status).toBe(429);
      // without a slug it is tried at its own account alone
      const { deviceToken } = other.first;
      expect((await owner.login({ deviceToken })).status).toBe(401);
      const own = { deviceToken, password: other.password };
      expect((await owner.login(own)).body.user.id).toBe(other.id);
    });

    it('its token is stored hashed, and one for several accounts stays valid', async () => {
      const owner = await accountOwner(drawbridge);
      const other = await accountOwner(drawbridge);
      const { deviceToken } = await owner.loggedIn();
      const { body } = await other.login({ deviceToken });
      expect(body.deviceToken).toBe(deviceToken);
      const rows = await drawbridge.query<{ all: string }>(
        'SELECT row_to_json(d)::text AS all FROM known_devices d WHERE user_id = ANY ($1::uuid[])',
        [[owner.id, other.id]],
      );
      expect(rows.filter(({ all }) => all.includes(deviceToken))).toEqual([]);
      expect((await owner.login({ deviceToken: 'made up' })).body.deviceToken).not.toBe('made up');
    });

    it('an account keeps the 20 that signed in last', async () => {
      const owner = await accountOwner(drawbridge);
      await drawbridge.query(
        `INSERT INTO known_devices (organization_id, user_id, token_hash, expires_at)
         SELECT $1, $2, number::text, now() + interval '1 day' FROM generate_series(1, 30) AS number`,
        [owner.organizationId, owner.id],
      );
      await owner.loggedIn();
      const [kept] = await drawbridge.query<{ count: number }>(
        'SELECT count(*)::int AS count FROM known_devices WHERE user_id = $1',
        [owner.id],
      );
      expect(kept).toEqual({ count: 20 });
    });
  });

  it('a mailed reset unlocks', async () => {
    const owner = await accountOwner(drawbridge);
    await locked(owner);
    await drawbridge.api.expect(204, post('forgot-password', { email: owner.email }));
    const token = await mailedToken(drawbridge, owner.email);
    owner.password = `${owner.password}X`;
    expect((await post('reset-password', { token, newPassword: owner.password })).status).toBe(200);
    expect((await owner.login()).status).toBe(200);
    expect((await owner.login(slugOf(owner))).status).toBe(200);
  });

  it('the failure count decreases by one every three hours', async () => {
    const owner = await accountOwner(drawbridge);
    for (let tries = 0; tries < 4; tries += 1) await owner.login(WRONG);
    const passes = (hours: number): Promise<object[]> =>
      drawbridge.query(
        `UPDATE sign_in_failures SET last_failed_at = last_failed_at - make_interval(hours => $2)
         WHERE account_key = $1`,
        [`password /${owner.email}`, hours],
      );
    const failures = async (): Promise<unknown> => {
      const [row] = await drawbridge.query<{ failures: number }>(
        'SELECT failures FROM sign_in_failures WHERE account_key = $1',
        [`password /${owner.email}`],
      );
      return row?.failures;
    };
    await passes(7);
    await owner.login(WRONG);
    expect(await failures()).toBe(3);
    // the hour that was left over counts
    await passes(2);
    await owner.login(WRONG);
    expect(await failures()).toBe(3);
  });
});
