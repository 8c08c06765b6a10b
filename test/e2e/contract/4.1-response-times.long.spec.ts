import { accountOwner } from '../../builders/accounts/accounts';
import { ApiClient } from '../../harness/product/api-client';
import { Drawbridge } from '../../harness/product/drawbridge';

/** With hashes that cost what people's may cost: elsewhere in the tests they are cheap. */
describe('4.1 Accounts and tokens: the cost of a hash', () => {
  const drawbridge = Drawbridge.own({ worker: false, api: { PASSWORD_HASH_COST: '10' } });

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
