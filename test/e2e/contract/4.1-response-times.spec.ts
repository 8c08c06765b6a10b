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
    /** The fastest of several failed sign-ins, in turn with one of an unknown account: a busy machine slows both. */
    const ratioToUnknown = async (): Promise<number> => {
      const fastest = { known: Infinity, unknown: Infinity };
      for (let tries = 0; tries < 6; tries += 1) {
        for (const kind of ['unknown', 'known'] as const) {
          const given = kind === 'unknown' ? { email: address() } : {};
          const before = performance.now();
          expect((await owner.login({ password: 'wrong', ...given })).status).toBe(401);
          fastest[kind] = Math.min(fastest[kind], performance.now() - before);
        }
        await drawbridge.query('DELETE FROM sign_in_failures');
      }
      return fastest.known / fastest.unknown;
    };
    const one = await ratioToUnknown();
    await Promise.all([1, 2, 3].map(() => accountOwner(drawbridge, { email })));
    const four = await ratioToUnknown();
    for (let more = 0; more < 8; more += 1) await accountOwner(drawbridge, { email });
    const twelve = await ratioToUnknown();
    // twelve comparisons would take four times as long
    for (const ratio of [one, four, twelve]) {
      expect(ratio).toBeGreaterThan(0.5);
      expect(ratio).toBeLessThan(2);
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
