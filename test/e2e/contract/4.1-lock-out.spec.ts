import { randomUUID } from 'node:crypto';
import { accountOwner, type ApiFailure, accountCalls } from '../../builders/accounts/accounts';
import { Drawbridge } from '../../harness/product/drawbridge';

const address = (): string => `${randomUUID()}@example.com`;

describe('4.1 Accounts and tokens: lock-out', () => {
  const drawbridge = Drawbridge.shared({ worker: false });

  const { post, refresh } = accountCalls(() => drawbridge);

  describe('repeated failures', () => {
    const fail = async (email: string, times: number): Promise<number[]> => {
      const statuses: number[] = [];
      for (let tries = 0; tries < times; tries += 1) {
        statuses.push((await post('login', { email, password: 'wrong' })).status);
      }
      return statuses;
    };
    const lock = async (email: string): Promise<void> => {
      const burst = Array.from({ length: 10 }, () => post('login', { email, password: 'wrong' }));
      expect((await Promise.all(burst)).map(({ status }) => status)).toContain(429);
    };

    it('a few mistypings cost nothing', async () => {
      const owner = await accountOwner(drawbridge);
      expect(await fail(owner.email, 4)).toEqual([401, 401, 401, 401]);
      expect((await owner.login()).status).toBe(200);
    });

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
      const answers = await Promise.all(
        Array.from({ length: 50 }, () => post('login', { email, password: 'wrong' })),
      );
      const statuses = answers.map(({ status }) => status);
      expect(statuses.filter((status) => status === 401).length).toBeLessThanOrEqual(8);
      expect(statuses.filter((status) => status === 401 || status === 429)).toHaveLength(50);
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
});
