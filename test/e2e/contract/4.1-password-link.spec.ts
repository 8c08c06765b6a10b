import { randomUUID } from 'node:crypto';
import {
  accountOwner,
  mailedText,
  mailedToken,
  type AccountOwner,
  type ApiFailure,
} from '../../builders/accounts/accounts';
import { ApiClient, type Answer } from '../../harness/product/api-client';
import { Drawbridge } from '../../harness/product/drawbridge';

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

describe('4.1 Accounts and tokens: POST /auth/password-link', () => {
  const drawbridge = Drawbridge.shared({ worker: false });

  const look = (token: string): Promise<Answer<PasswordLink>> =>
    drawbridge.api.post('/auth/password-link', { token });
  const invited = async (): Promise<Recipient> => {
    const owner = await accountOwner(drawbridge);
    const email = `${randomUUID()}@example.com`;
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
