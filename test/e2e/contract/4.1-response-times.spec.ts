import { randomUUID } from 'node:crypto';
import { accountOwner } from '../../builders/accounts';
import { ApiClient } from '../../harness/api-client';
import { Drawbridge } from '../../harness/drawbridge';

const address = (): string => `${randomUUID()}@example.com`;

const MIN_TRIES = 5;
const MAX_TRIES = 25;

/**
 * The time that the fastest of several takes, as a share of the fastest of the others, in turn: a busy machine slows both.
 * @param isAsExpected ends it early: other load only adds time to either
 */
async function ratioOfFastest(
  measured: () => Promise<unknown>,
  other: () => Promise<unknown>,
  isAsExpected: (ratio: number) => boolean,
): Promise<number> {
  const fastest = { measured: Infinity, other: Infinity };
  const timed = async (kind: keyof typeof fastest, work: () => Promise<unknown>): Promise<void> => {
    const before = performance.now();
    await work();
    fastest[kind] = Math.min(fastest[kind], performance.now() - before);
  };
  for (let tries = 1; tries <= MAX_TRIES; tries += 1) {
    await timed('other', other);
    await timed('measured', measured);
    if (tries >= MIN_TRIES && isAsExpected(fastest.measured / fastest.other)) break;
  }
  return fastest.measured / fastest.other;
}

/** With hashes that cost what people's may cost: elsewhere in the tests they are cheap. */
describe('4.1 Accounts and tokens: response times reveal nothing', () => {
  const drawbridge = Drawbridge.own({ worker: false, api: { PASSWORD_HASH_COST: '10' } });

  it('takes as long for an unknown e-mail as for a wrong password, and never as long as four comparisons', async () => {
    const email = address();
    const owner = await accountOwner(drawbridge, { email });
    const ratioToUnknown = (most: number, status = 401): Promise<number> => {
      const failed = async (expected: number, given: object): Promise<void> => {
        expect((await owner.login({ password: 'wrong', ...given })).status).toBe(expected);
        await drawbridge.query('DELETE FROM sign_in_failures');
      };
      return ratioOfFastest(
        () => failed(status, {}),
        () => failed(401, { email: address() }),
        (found) => found > 0.5 && found < most,
      );
    };
    const one = await ratioToUnknown(2);
    for (let more = 0; more < 11; more += 1) await accountOwner(drawbridge, { email });
    const twelve = await ratioToUnknown(4, 400);
    // without a comparison it would be a fiftieth
    expect([one > 0.5, one < 2, twelve < 4]).toEqual([true, true, true]);
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
