import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { founder, paid, PASSWORD, type Person } from '../builders/accounts/people';
import { containing } from '../harness/matching';
import { AddressProxy } from '../harness/network/address-proxy';
import { LocalServer } from '../harness/network/local-server';
import { CommandLine } from '../harness/product/command-line';
import { Drawbridge } from '../harness/product/drawbridge';
import { until } from '../harness/until';

interface StoredTokens {
  readonly accessToken: string;
  readonly refreshToken: string;
  expiresAt: number;
}

interface StoredConfig {
  readonly profiles: { readonly default: { readonly url: string; readonly tokens: StoredTokens } };
}

describe('The command line keeps secrets', () => {
  const drawbridge = Drawbridge.shared({ worker: false, limitedAsShipped: true });
  let proxy: AddressProxy;
  let ada: Person;
  let key: string;
  let cli: CommandLine;

  beforeAll(async () => {
    proxy = await AddressProxy.start(drawbridge.apiServer.port, '203.0.113.7');
    ada = await founder(drawbridge);
    await paid(drawbridge, ada.organizationId);
    const body = { name: 'cli', scopes: ['sessions:read'] };
    key = (await ada.client.created<{ plainTextKey: string }>('/api-keys', body)).plainTextKey;
  });
  afterAll(() => proxy.stop());
  beforeEach(() => {
    cli = new CommandLine();
  });
  afterEach(() => cli.remove());

  const login = (password = PASSWORD): ReturnType<CommandLine['run']> =>
    cli.run(`login --url ${proxy.url} --email ${ada.email} --password-stdin`, `${password}\n`);
  const config = (): StoredConfig => JSON.parse(readFileSync(cli.configFile, 'utf8')) as StoredConfig;
  const mode = (): string => (statSync(cli.configFile).mode & 0o777).toString(8);

  const signOuts = async (): Promise<number> => {
    const path = '/audit-logs?eventType=USER_LOGOUT&size=100';
    const { content } = await ada.client.read<{ content: unknown[] }>(path);
    return content.length;
  };

  const endToken = (): void => {
    const stored = config();
    stored.profiles.default.tokens.expiresAt = 0;
    writeFileSync(cli.configFile, JSON.stringify(stored));
  };

  it('a sign-in is stored for its user alone, without the password', async () => {
    const stdout = `Signed in at ${proxy.url} with ${ada.email}.\n`;
    expect(await login()).toMatchObject({ code: 0, stderr: '', stdout });
    expect(mode()).toBe('600');
    expect(readFileSync(cli.configFile, 'utf8')).not.toContain(PASSWORD);
    expect(await cli.json('list')).toEqual({ sessions: [] });
  });

  it('a file that others can read, or that is damaged, is refused with the fix', async () => {
    await login();
    chmodSync(cli.configFile, 0o640);
    const { code, stderr } = await cli.run('list');
    expect(code).toBe(2);
    expect(stderr).toContain(`Fix: chmod 600 ${cli.configFile}`);
    expect(stderr).toContain('mode 640');
    chmodSync(cli.configFile, 0o600);
    writeFileSync(cli.configFile, '{"profiles":');
    expect(await cli.run('list')).toMatchObject({ code: 2, stderr: containing('drawbridge login') });
  });

  it('many commands at once refresh an ended token once', async () => {
    await login();
    endToken();
    proxy.requests.length = 0;
    const all = await Promise.all(Array.from({ length: 6 }, () => cli.run('list')));
    expect(all.map(({ code }) => code)).toEqual([0, 0, 0, 0, 0, 0]);
    expect(proxy.requests.filter((line) => line.endsWith('/auth/refresh'))).toHaveLength(1);
    expect(mode()).toBe('600');
  });

  it('a lock that a killed process left behind holds nobody up', async () => {
    await login();
    endToken();
    writeFileSync(`${cli.configFile}.lock`, '4194304');
    expect((await cli.run('list')).code).toBe(0);
  });

  it('a sign-in that was ended elsewhere: 5, with the fix', async () => {
    await login();
    const { refreshToken } = config().profiles.default.tokens;
    await drawbridge.api.posted('/auth/logout', { refreshToken });
    endToken();
    const stderr = 'drawbridge: Your sign-in has ended\n  Fix: drawbridge login\n';
    expect(await cli.run('list')).toMatchObject({ code: 5, stderr });
  });

  it('logout leaves to the background what an API that is away cannot do', async () => {
    await login();
    const { refreshToken } = config().profiles.default.tokens;
    const before = await signOuts();
    const port = await proxy.sever();
    const going = cli.start('logout');
    await going.prints('goes on asking for its end');
    expect(going.stderr).toMatch(/here the sign-in is forgotten, and its access token ends at \d\d:\d\d/);
    process.kill(going.pid, 'SIGKILL');
    await proxy.restore(port);
    await until('it is signed out', async () => (await signOuts()) > before);
    expect((await drawbridge.api.post('/auth/refresh', { refreshToken })).status).toBe(401);
  });

  it('logout ends the sign-in on the server too, and forgets all but the server', async () => {
    await login();
    const { refreshToken } = config().profiles.default.tokens;
    expect((await cli.run('logout')).code).toBe(0);
    expect(config().profiles).toEqual({ default: { url: proxy.url } });
    expect((await drawbridge.api.post('/auth/refresh', { refreshToken })).status).toBe(401);
    for (const url of ['', proxy.url, 'http://127.0.0.1:9'])
      expect((await cli.run('list', '', { DRAWBRIDGE_URL: url })).stderr).toContain('You are not signed in');
    expect((await cli.run('logout')).stdout).toBe('You were not signed in.\n');
    const again = await cli.run(`login --email ${ada.email} --password-stdin`, `${PASSWORD}\n`);
    expect(again.stderr).toContain(`signing in at ${proxy.url}`);
    expect(again.stdout).toContain(`Signed in at ${proxy.url}`);
  });

  it('DRAWBRIDGE_URL and DRAWBRIDGE_API_KEY come before the profile', async () => {
    await login();
    proxy.headers.length = 0;
    const env = { DRAWBRIDGE_URL: proxy.url, DRAWBRIDGE_API_KEY: key };
    expect((await cli.run('list', '', env)).code).toBe(0);
    expect(proxy.headers.at(-1)).toMatchObject({ 'x-api-key': key });
    expect(proxy.headers.at(-1)).not.toHaveProperty('authorization');
  });

  it('the secret of a profile is sent to no other server', async () => {
    await login();
    const url = 'http://127.0.0.1:9';
    const elsewhere = await cli.run('list', '', { DRAWBRIDGE_URL: url });
    expect(elsewhere).toMatchObject({ code: 5, stderr: containing(`DRAWBRIDGE_URL is ${url}`) });
  });

  it('and follows no redirect', async () => {
    const other = await LocalServer.start(() => ({ body: '[]' }));
    const moved = { status: 307, headers: { location: other.url }, body: '' };
    const redirecting = await LocalServer.start(() => moved);
    const env = { DRAWBRIDGE_URL: redirecting.url, DRAWBRIDGE_API_KEY: key };
    const { code, stderr } = await cli.run('list', '', env);
    for (const server of [other, redirecting]) await server.stop();
    expect([code, other.requests]).toEqual([6, []]);
    expect(stderr).toContain(other.url);
  });

  it('over http to another machine it says that the key can be read on the way', async () => {
    const env = { DRAWBRIDGE_URL: 'http://[::ffff:127.0.0.1]:9', DRAWBRIDGE_API_KEY: key };
    const { stderr } = await cli.run('list', '', env);
    expect(stderr).toContain('http://[::ffff:7f00:1]:9 is not https: what is sent there can be read');
    const here = await cli.run('list', '', { ...env, DRAWBRIDGE_URL: proxy.url });
    expect(here.stderr).toBe('');
  });

  it('an API key can be stored in place of a sign-in; a wrong one is not', async () => {
    const storing = `login --url ${proxy.url} --api-key-stdin`;
    const wrong = await cli.run(storing, 'dbk_wrong-key-0123456789\n');
    expect(wrong).toMatchObject({ code: 5, stderr: containing('Fix: check that all of the key') });
    expect((await cli.run(storing, `${key}\n`)).code).toBe(0);
    expect(mode()).toBe('600');
    expect((await cli.run('list')).code).toBe(0);
  });

  it('nothing it prints holds a secret, whatever fails', async () => {
    await login();
    const stored = config().profiles.default.tokens;
    const secrets = [PASSWORD, stored.accessToken, stored.refreshToken, key, 'canary\u0001key'];
    const env = { DRAWBRIDGE_URL: proxy.url, DRAWBRIDGE_API_KEY: key };
    const outputs = await Promise.all([
      cli.run('list'),
      cli.run('doctor --output json'),
      cli.run('users', '', env),
      cli.run('list', '', { DRAWBRIDGE_URL: proxy.url, DRAWBRIDGE_API_KEY: 'canary\u0001key' }),
      cli.run('list', '', { ...env, DRAWBRIDGE_URL: 'http://user:canary@127.0.0.1' }),
      login('Wrong-canary-1'),
    ]);
    expect(outputs.at(-1)!.stderr).toContain(`drawbridge users password-link ${ada.email}`);
    outputs.push(
      await cli.run('login --url Typed-canary-1'),
      await cli.run('login --password=Typed-canary-1 --json'),
      await cli.run('credentials create x --provider AWS --set Typed-canary-1', '', env),
    );
    const printed = outputs.map(({ stdout, stderr }) => stdout + stderr).join('\n');
    for (const secret of [...secrets, 'Wrong-canary-1', 'Typed-canary-1', ':canary@'])
      expect(printed).not.toContain(secret);
    expect(printed).not.toMatch(/\n\s+at .*:\d+:\d+/);
  });
});
