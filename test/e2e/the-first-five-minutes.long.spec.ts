import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { totpOf } from '../builders/accounts/accounts';
import { ApiClient } from '../harness/product/api-client';
import { freePort } from '../harness/network/free-port';
import { IssuerVisitor } from '../harness/issuers/issuer-visitor';
import { SimulatorClient } from '../harness/product/simulator-client';
import { until } from '../harness/until';

const ROOT = resolve(__dirname, '../..');
const run = promisify(execFile);

/** `npm start`, as seen in a terminal. */
class Started {
  output = '';
  readonly gone: Promise<number | null>;

  constructor(private readonly child: ChildProcess) {
    for (const stream of [child.stdout!, child.stderr!])
      stream.on('data', (chunk: Buffer) => (this.output += chunk.toString()));
    this.gone = new Promise((done) => child.once('exit', done));
  }

  ready(): Promise<boolean> {
    return until('npm start is ready', () => {
      if (this.child.exitCode !== null) throw new Error(`It ended:\n${this.output}`);
      return Promise.resolve(/Ready in /.test(this.output));
    });
  }

  /** The n-th line to paste. */
  line(index: number): string {
    return this.output.split('\n').filter((text) => text.startsWith('curl '))[index]!;
  }

  async paste(index: number): Promise<{ id: string; status: string }> {
    const { stdout } = await run('bash', ['-c', this.line(index)]);
    return JSON.parse(stdout) as { id: string; status: string };
  }

  end(signal: NodeJS.Signals): Promise<number | null> {
    this.child.kill(signal);
    return this.gone;
  }
}

describe('The first five minutes', () => {
  let data: string;
  let env: Record<string, string>;
  let cloud: SimulatorClient;
  let first: Started;

  const start = (extra: Record<string, string> = {}): Started =>
    new Started(
      spawn(process.execPath, ['dist/apps/launcher/src/main.js'], {
        cwd: ROOT,
        env: { ...env, ...extra },
        stdio: ['ignore', 'pipe', 'pipe'],
      }),
    );

  beforeAll(async () => {
    data = mkdtempSync(join(tmpdir(), 'drawbridge-start-'));
    const [port, simulatorPort] = [await freePort(), await freePort()];
    const { PATH = '', HOME = '' } = process.env;
    env = { PATH, HOME, DATA_DIR: data, PORT: String(port), SIMULATOR_PORT: String(simulatorPort) };
    cloud = new SimulatorClient(`http://127.0.0.1:${simulatorPort}`);
    first = start();
    await first.ready();
  });
  afterAll(() => rmSync(data, { recursive: true, force: true }));

  const open = async (): Promise<string[]> => (await cloud.rules()).map((rule) => rule.address);

  it('the printed command opens a rule in the simulated cloud, the next one closes it, the last one signs in', async () => {
    // nothing to stop yet
    await expect(first.paste(1)).rejects.toThrow('Unexpected end of JSON input');
    const session = await first.paste(0);
    expect(session.status).toBe('PENDING');
    await until('the rule is open', async () => (await open()).includes('203.0.113.10'));
    const stopped = await first.paste(1);
    expect(stopped).toMatchObject({ id: session.id, status: 'EXPIRING' });
    await until('the rule is closed', async () => !(await open()).includes('203.0.113.10'));
    const [, password] = /Sign in +\S+ +(\S+)/.exec(first.output)!;
    const signIn = `echo '${password}' | { ${first.line(2)} --password-stdin; }`;
    const { stdout } = await run('bash', ['-c', signIn], { cwd: data, env: { ...env, HOME: data } });
    expect(stdout).toContain('Signed in at');
    const [, refreshToken] = /^ {2}Console +\S+\/sign-in#refreshToken=(\S+)$/m.exec(first.output)!;
    const moved = await fetch(`http://localhost:${env['PORT']}/api/v1/auth/refresh`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ refreshToken, refreshTokenIn: 'cookie' }),
    });
    expect(await moved.json()).toMatchObject({ refreshToken: null, user: { email: 'admin@demo.example' } });
    expect(moved.headers.getSetCookie()).toEqual([expect.stringMatching(/^drawbridge=/)]);
  });

  it('the simulated company signs people in, and gives the role of their group', async () => {
    const api = `http://localhost:${env['PORT']}/api/v1`;
    expect(first.output).toMatch(/^ {2}Company +http:\S+\/sign-in\/company\?organization=demo /m);
    const verifier = randomBytes(32).toString('base64url');
    const challenge = createHash('sha256').update(verifier).digest('base64url');
    const asked = `${api}/auth/sso/demo?challenge=${challenge}&returnTo=code`;
    const { url } = await new IssuerVisitor().visit(asked, { person: 'simulated-developer' });
    const code = new URLSearchParams(url.hash.slice(1)).get('code');
    const completed = await fetch(`${api}/auth/sso/complete`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ code, verifier }),
    });
    const { accessToken, user } = (await completed.json()) as { accessToken: string; user: object };
    expect(user).toMatchObject({ email: 'developer@demo.example', isOrgAdmin: false });
    const mine = await fetch(`${api}/auth/me`, { headers: { Authorization: `Bearer ${accessToken}` } });
    expect(await mine.json()).toMatchObject({ roleNames: ['Developers'] });
  });

  it('Ctrl-C stops all processes, and nobody was warned', async () => {
    expect(await first.end('SIGINT')).toBe(0);
    await expect(cloud.rules()).rejects.toThrow('fetch failed');
    const log = readFileSync(join(data, 'logs', 'simulator.log'), 'utf8');
    expect(first.output + log).not.toContain('oidc-provider');
  });

  it('a configuration error stops it at once with the message, without a restart', async () => {
    const refused = start({ RATE_LIMIT_PER_MINUTE: 'many' });
    expect(await refused.gone).toBe(1);
    expect(refused.output).toContain('RATE_LIMIT_PER_MINUTE must be');
    expect(refused.output).toContain('The API does not start (exit code 78)');
    expect(refused.output).not.toContain('is started again');
  });

  it('CONSOLE=off prints no console; METRICS_PORT is the API’s port, the next one the worker’s, and all listen on loopback only', async () => {
    const metricsPort = await freePort(1);
    const measured = start({ METRICS_PORT: String(metricsPort), CONSOLE: 'off' });
    await measured.ready();
    const read = async (port: number): Promise<string> =>
      (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    expect(await read(metricsPort)).toContain('drawbridge_http_request_seconds');
    expect(await read(metricsPort + 1)).toContain('overdue');
    const others = Object.values(networkInterfaces()).flatMap((all) => all ?? []);
    for (const { address, family, internal } of others) {
      if (internal || family !== 'IPv4') continue;
      for (const port of [metricsPort, metricsPort + 1, Number(env['PORT'])]) {
        await expect(fetch(`http://${address}:${port}/`)).rejects.toThrow('fetch failed');
      }
    }
    expect(measured.output).not.toContain('  Console');
    expect(await measured.end('SIGINT')).toBe(0);
  });

  it('a second start finds its data again, also after SIGKILL', async () => {
    const second = start();
    await second.ready();
    const session = await second.paste(0);
    await until('the rule is open', async () => (await open()).includes('203.0.113.10'));
    // from now on the launcher cannot sign in by itself
    const [, email, password] = /Sign in +(\S+) +(\S+)/.exec(second.output)!;
    const api = new ApiClient(`http://localhost:${env['PORT']}/api/v1`);
    const login = { email, password };
    const { accessToken: token } = await api.posted<{ accessToken: string }>('/auth/login', login);
    const { secret } = await api.as({ token }).posted<{ secret: string }>('/mfa/setup');
    await api.as({ token }).posted('/mfa/setup/confirm', { code: totpOf(secret).generate() });
    await second.end('SIGKILL');
    await until('its processes are gone', async () => (await cloud.rules().catch(() => null)) === null);

    const third = start();
    await third.ready();
    const lines = /^ {2}(?:Sign in|Company|Mail) .*$/gm;
    expect(third.output.match(lines)).toEqual(second.output.match(lines));
    expect(await open()).toContain('203.0.113.10');
    const again = await third.paste(1);
    expect(again).toMatchObject({ id: session.id, status: 'EXPIRING' });
    const twice = third.end('SIGINT');
    await third.end('SIGINT');
    await twice;
  });

  it('an occupied port is reported with the variable to change it', async () => {
    const port = await freePort();
    const server = createServer().listen(port, '127.0.0.1');
    const refused = start({ PORT: String(port) });
    expect(await refused.gone).toBe(1);
    expect(refused.output).toContain(`PORT`);
    expect(refused.output).toContain(String(port));
    expect(refused.output).not.toMatch(/^\s+at /m);
    await new Promise((done) => server.close(done));
  });
});
