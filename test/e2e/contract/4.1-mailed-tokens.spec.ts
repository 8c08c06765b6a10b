import { randomUUID } from 'node:crypto';
import {
  accountOwner,
  mailedLinks,
  mailedText,
  mailedToken,
  type AccountOwner,
  type ApiFailure,
  type Login,
  accountCalls,
} from '../../builders/accounts/accounts';
import { ApiClient, type Answer } from '../../harness/product/api-client';
import { Drawbridge } from '../../harness/product/drawbridge';
import { until } from '../../harness/until';

/** Somebody with a link. */
interface Recipient {
  readonly owner: AccountOwner;
  readonly email: string;
  readonly token: string;
}

interface PasswordLink extends ApiFailure {
  readonly purpose: string;
  readonly passwordPolicy: object;
  readonly passwordRules: string;
}

const address = (): string => `${randomUUID()}@example.com`;

describe('4.1 Accounts and tokens: resets, and what a mailed link says', () => {
  const drawbridge = Drawbridge.shared({ worker: false });

  const { post, refresh } = accountCalls(() => drawbridge);

  describe('POST /auth/forgot-password and /auth/reset-password', () => {
    const forgot = (email: string, given: object = {}): Promise<Answer<unknown>> =>
      post('forgot-password', { email, ...given });
    const reset = (token: string, newPassword = 'A fresh 1 this time') =>
      post<Login & ApiFailure>('reset-password', { token, newPassword });

    it('answers 204 whether the account exists, is inactive, or not', async () => {
      const owner = await accountOwner(drawbridge);
      const inactive = await accountOwner(drawbridge);
      await drawbridge.query('UPDATE users SET is_active = false WHERE id = $1', [inactive.id]);
      for (const email of [owner.email, address(), inactive.email]) {
        expect(await forgot(email)).toMatchObject({ status: 204, body: null });
      }
      await mailedToken(drawbridge, owner.email);
      expect(mailedLinks(drawbridge, inactive.email)).toEqual([]);
      expect((await forgot('nonsense')).status).toBe(400);
    });

    it('mails a link that ends in the token; the token sets a new password and signs in', async () => {
      const owner = await accountOwner(drawbridge);
      await forgot(` ${owner.email.toUpperCase()}`);
      const token = await mailedToken(drawbridge, owner.email);
      const answer = await reset(token);
      expect(answer).toMatchObject({ status: 200, body: { tokenType: 'Bearer', user: { id: owner.id } } });
      expect((await owner.login()).status).toBe(401);
      expect((await owner.login({ password: 'A fresh 1 this time' })).status).toBe(200);
      expect((await refresh(owner.first)).status).toBe(401);
      expect(await owner.audited('PASSWORD_RESET_REQUESTED')).toHaveLength(1);
      expect(await owner.audited('PASSWORD_RESET')).toHaveLength(1);
    });

    it('a token works once and for an hour; a bad one is 400', async () => {
      const owner = await accountOwner(drawbridge);
      await forgot(owner.email);
      const first = await mailedToken(drawbridge, owner.email);
      const answers = await Promise.all([reset(first), reset(first), reset(first)]);
      expect(answers.map(({ status }) => String(status)).toSorted()).toEqual(['200', '400', '400']);
      await forgot(owner.email);
      const second = await mailedToken(drawbridge, owner.email, 2);
      await drawbridge.query(
        `UPDATE account_tokens SET expires_at = expires_at - interval '1 hour' WHERE user_id = $1`,
        [owner.id],
      );
      expect((await reset(second)).status).toBe(400);
      expect(await reset('nonsense')).toMatchObject({
        status: 400,
        body: { validationErrors: { token: expect.any(String) as string } },
      });
    });

    it('does not take the place of the second factor', async () => {
      const owner = await accountOwner(drawbridge);
      await owner.turnMfaOn();
      await forgot(owner.email);
      const answer = await reset(await mailedToken(drawbridge, owner.email));
      expect(answer).toMatchObject({ status: 200, body: { mfaRequired: true, accessToken: null } });
    });

    it('every organization with the e-mail sends its own link, or only the named one', async () => {
      const email = address();
      const first = await accountOwner(drawbridge, { email });
      const second = await accountOwner(drawbridge, { email });
      await forgot(email);
      await until('two mails', async () => mailedLinks(drawbridge, email).length === 2);
      await forgot(email, { organizationSlug: second.first.user.organizationSlug });
      const token = await mailedToken(drawbridge, email, 3);
      expect((await reset(token)).body.user.id).toBe(second.id);
      expect((await first.login()).status).toBe(200);
    });

    it('at most five links per hour are mailed', async () => {
      const owner = await accountOwner(drawbridge);
      const answers = await Promise.all(Array.from({ length: 12 }, () => forgot(owner.email)));
      expect(answers.every(({ status }) => status === 204)).toBe(true);
      await until('seven were not sent', async () => {
        const told = drawbridge.apiServer.output.split('\n').filter((line) => line.includes(owner.id));
        return told.filter((line) => line.includes('too many within an hour')).length === 7;
      });
      await mailedToken(drawbridge, owner.email, 5);
      expect(mailedLinks(drawbridge, owner.email)).toHaveLength(5);
    });
  });

  describe('POST /auth/password-link', () => {
    const look = (token: string): Promise<Answer<PasswordLink>> =>
      drawbridge.api.post('/auth/password-link', { token });
    const invited = async (): Promise<Recipient> => {
      const owner = await accountOwner(drawbridge);
      const email = address();
      await owner.client.created('/users', { email, name: 'Invited' });
      return { owner, email, token: await mailedToken(drawbridge, email) };
    };
    const forgetful = async (): Promise<Recipient> => {
      const owner = await accountOwner(drawbridge);
      const { email } = owner;
      await drawbridge.query(`UPDATE users SET name = 'Invited' WHERE id = $1`, [owner.id]);
      await drawbridge.api.expect(204, drawbridge.api.post('/auth/forgot-password', { email }));
      return { owner, email, token: await mailedToken(drawbridge, email) };
    };
    const setBy = {
      INVITE: (inviteToken: string) =>
        drawbridge.api.post('/auth/set-password', { inviteToken, password: 'My first 1 here' }),
      RESET: (token: string) =>
        drawbridge.api.post('/auth/reset-password', { token, newPassword: 'My first 1 here' }),
    };

    describe.each([
      ['INVITE', invited],
      ['RESET', forgetful],
    ] as const)('%s', (purpose, sent) => {
      it('says whose link it is and which passwords will do, as often as one looks', async () => {
        const { owner, email, token } = await sent();
        await owner.organizationSets('password_min_length', 12);
        for (let looks = 0; looks < 3; looks += 1)
          expect(await look(token)).toMatchObject({
            status: 200,
            body: {
              purpose,
              organizationName: 'Example',
              organizationSlug: owner.first.user.organizationSlug,
              email,
              name: 'Invited',
              passwordPolicy: {
                passwordMinLength: 12,
                passwordRequireDigit: true,
                passwordRequireSpecialChar: false,
              },
              passwordRules:
                'The password must have 12 to 128 characters, an upper-case letter, a lower-case letter, a digit.',
            },
          });
        expect((await setBy[purpose](token)).status).toBe(200);
      });

      it('the mail names the organization, the link and where to sign in, and no request of the API', async () => {
        const { owner, email, token } = await sent();
        const text = mailedText(drawbridge, email);
        const url = `http://localhost:${drawbridge.apiServer.port}`;
        const { organizationSlug } = owner.first.user;
        const page = { INVITE: 'accept-invitation', RESET: 'reset-password' }[purpose];
        for (const words of [
          `Example (${organizationSlug})`,
          `\n\n${url}/${page}/${token}\n\n`,
          `at ${url}/, with the organization ${organizationSlug} and the e-mail ${email}.`,
        ])
          expect(text).toContain(words);
        expect(text).not.toMatch(/POST|curl|\{/);
      });

      it('a used, an expired and an unknown link, and a deactivated user’s, say what to do, and name nobody', async () => {
        const [used, expired, inactive] = [await sent(), await sent(), await sent()];
        await setBy[purpose](used.token);
        await drawbridge.query(
          `UPDATE account_tokens t SET expires_at = now() FROM users u WHERE u.id = t.user_id AND u.email = $1`,
          [expired.email],
        );
        await drawbridge.query('UPDATE users SET is_active = false WHERE email = $1', [inactive.email]);
        for (const token of [used.token, expired.token, inactive.token, 'nonsense']) {
          const { status, body } = await look(token);
          expect([status, body.message]).toEqual([
            404,
            expect.stringMatching(/administrator.*forgot-password/),
          ]);
          expect(JSON.stringify(body)).not.toMatch(/Example|@example\.com/);
        }
      });
    });

    it('counts as an attempt at a password', async () => {
      const { port } = await drawbridge.startApi({ RATE_LIMIT_PER_MINUTE: '6' });
      const strict = new ApiClient(`http://127.0.0.1:${port}/api/v1`);
      const statuses: number[] = [];
      for (let looks = 0; looks < 3; looks += 1)
        statuses.push((await strict.post('/auth/password-link', { token: 'nonsense' })).status);
      expect(statuses).toEqual([404, 404, 429]);
    });
  });
});
