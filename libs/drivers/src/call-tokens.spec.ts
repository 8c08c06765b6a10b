import { CallFailure, TokenRefused } from './call-failure';
import { TokenCache, type CallToken } from './call-tokens';

describe('TokenCache', () => {
  let issued: number;
  let refused: Set<string>;
  let cache: TokenCache<string>;
  const lifeMs = 3_600_000;

  beforeEach(() => {
    issued = 0;
    refused = new Set();
    cache = new TokenCache();
  });

  const take = (life = lifeMs): Promise<CallToken<string>> =>
    cache.take('key', () => {
      issued += 1;
      return Promise.resolve({ token: `token ${issued}`, expiresAt: Date.now() + life });
    });
  const send = (token: string): Promise<string> =>
    refused.has(token)
      ? Promise.reject(new TokenRefused('denied', 'no', null))
      : Promise.resolve(`with ${token}`);

  it('shares one token request between concurrent calls and caches the token', async () => {
    await Promise.all([take(), take()]);
    expect(await (await take()).use(send)).toBe('with token 1');
    expect(issued).toBe(1);
  });

  it('requests a new token five minutes before the cached one expires', async () => {
    await take(299_000);
    expect(await (await take()).use(send)).toBe('with token 2');
  });

  it('replaces a refused cached token once', async () => {
    await take();
    refused.add('token 1');
    const token = await take();
    expect(await token.use(send)).toBe('with token 2');
    expect(await (await take()).use(send)).toBe('with token 2');
    refused.add('token 2');
    await expect(token.use(send)).rejects.toBeInstanceOf(TokenRefused);
    expect(issued).toBe(2);
  });

  it('does not replace a refused new token', async () => {
    refused.add('token 1');
    await expect((await take()).use(send)).rejects.toBeInstanceOf(TokenRefused);
    expect(issued).toBe(1);
  });

  it('replaces a token with one request when several calls are refused at the same time', async () => {
    await take();
    refused.add('token 1');
    const [one, other] = await Promise.all([take(), take()]);
    expect(await Promise.all([one.use(send), one.use(send), other.use(send)])).toEqual([
      'with token 2',
      'with token 2',
      'with token 2',
    ]);
    expect(issued).toBe(2);
  });

  it('does not replace a token after another failure', async () => {
    await take();
    const failing = (): Promise<never> => Promise.reject(new CallFailure('denied', 'no', null, true));
    await expect((await take()).use(failing)).rejects.toThrow('no');
    expect(issued).toBe(1);
  });

  it('is requested again by the next driver call after a denial only, when it is not replaced at once', async () => {
    const failing = (kind: 'denied' | 'transient'): Promise<unknown> =>
      take().then((token) => token.run(() => Promise.reject(new CallFailure(kind, 'no', null, true))));
    await expect(failing('transient')).rejects.toMatchObject({ kind: 'transient' });
    await expect(failing('denied')).rejects.toMatchObject({ kind: 'denied' });
    expect(issued).toBe(1);
    await take();
    expect(issued).toBe(2);
  });

  it('reports a settled failure when the replacement cannot be requested', async () => {
    await take();
    refused.add('token 1');
    const token = await cache.take('key', () =>
      Promise.reject(new CallFailure('transient', 'no answer', null, false)),
    );
    await expect(token.use(send)).rejects.toMatchObject({
      kind: 'transient',
      settled: true,
      message: 'Not sent: no answer',
    });
  });
});
