import { randomUUID } from 'node:crypto';
import { accountOwner } from '../../builders/accounts';
import { ApiClient } from '../../harness/api-client';
import { Drawbridge } from '../../harness/drawbridge';

const address = (): string => `${randomUUID()}@example.com`;

/** With hashes that cost what people's may cost: elsewhere in the tests they are cheap. */
describe('4.1 Accounts and tokens: response times reveal nothing', () => {
  let drawbridge: Drawbridge;

  beforeAll(async () => {
    drawbridge = await Drawbridge.start({ worker: false, api: { PASSWORD_HASH_COST: '10' } });
  });
  afterAll(() => drawbridge.stop());

  it('takes as long for an unknown e-mail as for a wrong password', async () => {
    const owner = await accountOwner(drawbridge);
    const fastest = async (given: () => object): Promise<number> => {
      const times: number[] = [];
      for (let tries = 0; tries < 5; tries += 1) {
        const before = performance.now();
        await owner.login(given());
        times.push(performance.now() - before);
      }
      return Math.min(...times);
    };
    const wrong = await fastest(() => ({ password: 'wrong' }));
    const unknown = await fastest(() => ({ email: address() }));
    // without a comparison it would be a fiftieth
    expect(unknown).toBeGreaterThan(wrong / 3);
    expect(unknown).toBeLessThan(wrong * 3);
  });

  it('is 401 for a wrong password after the same work, for any number of organizations with the e-mail', async () => {
    const email = address();
    const owner = await accountOwner(drawbridge, { email });
    const fastest = async (given: object): Promise<number> => {
      const times: number[] = [];
      for (let tries = 0; tries < 5; tries += 1) {
        const before = performance.now();
        expect((await owner.login({ password: 'wrong', ...given })).status).toBe(401);
        times.push(performance.now() - before);
      }
      await drawbridge.query('DELETE FROM sign_in_failures');
      return Math.min(...times);
    };
    const unknown = await fastest({ email: address() });
    const one = await fastest({});
    await Promise.all([1, 2, 3].map(() => accountOwner(drawbridge, { email })));
    const four = await fastest({});
    for (let more = 0; more < 8; more += 1) await accountOwner(drawbridge, { email });
    const twelve = await fastest({});
    // twelve comparisons would take four times as long
    for (const time of [one, four, twelve]) {
      expect(time / unknown).toBeGreaterThan(0.5);
      expect(time / unknown).toBeLessThan(2);
    }
  });

  it('signing in hashes the password again when the configured cost has changed', async () => {
    const owner = await accountOwner(drawbridge);
    const { port } = await drawbridge.startApi({ PASSWORD_HASH_COST: '11' });
    const dearer = new ApiClient(`http://127.0.0.1:${port}/api/v1`);
    const { email, password } = owner;
    const hash = async (): Promise<string> => {
      const [user] = await drawbridge.query<{ hash: string }>(
        'SELECT password_hash AS hash FROM users WHERE id = $1',
        [owner.id],
      );
      return user!.hash;
    };
    expect(await hash()).toMatch(/^\$2b\$10\$/);
    expect((await dearer.post('/auth/login', { email, password: 'wrong' })).status).toBe(401);
    expect(await hash()).toMatch(/^\$2b\$10\$/);
    expect((await dearer.post('/auth/login', { email, password })).status).toBe(200);
    const renewed = await hash();
    expect(renewed).toMatch(/^\$2b\$11\$/);
    expect((await dearer.post('/auth/login', { email, password })).status).toBe(200);
    expect(await hash()).toBe(renewed);
  });
});
