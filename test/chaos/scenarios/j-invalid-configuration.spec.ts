import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ownOrganization } from '../../builders/accounts/organization';
import { Drawbridge } from '../../harness/product/drawbridge';
import { freePort } from '../../harness/network/free-port';
import { AppProcess } from '../../harness/product/processes';

const APPS = ['api', 'worker'] as const;
type App = (typeof APPS)[number];

describe('J. Deploy and operations: invalid configuration', () => {
  const drawbridge = Drawbridge.own({ worker: false });
  ownOrganization(drawbridge);

  const start = (app: App, env: Readonly<Record<string, string>>): Promise<AppProcess> =>
    app === 'api' ? drawbridge.startApi(env) : drawbridge.startWorker(env);

  /** The output of a process that does not start; without a stack trace. @param code that it exits with; 78: waiting does not help */
  const refusal = async (
    app: App,
    env: Readonly<Record<string, string>>,
    code: 1 | 78 = 78,
  ): Promise<string> => {
    const outcome = await start(app, env).catch((error: Error) => error);
    if (!(outcome instanceof Error)) throw new Error(`${app} started with ${Object.keys(env).join(', ')}`);
    expect(outcome.message).toContain(`ended (${code})`);
    expect(outcome.message).not.toMatch(/^\s+at /m);
    return outcome.message;
  };

  const databaseAt = (change: Partial<URL>): string =>
    Object.assign(new URL(drawbridge.databaseUrl), change).href;

  it.each(APPS)('the %s exits with 78 without what it needs, and names each of it [J3]', async (app) => {
    const output = await refusal(app, { DATABASE_URL: '', MASTER_KEYS: '' }, 78);
    for (const name of ['DATABASE_URL', 'MASTER_KEYS']) expect(output).toContain(`- ${name} must`);
  });

  it.each(APPS)('the %s exits with 78 for broken settings, names each, and prints none [J3]', async (app) => {
    const broken = ['MASTER_KEYS', 'REDIS_URL', 'DATABASE_URL', 'LOG_LEVEL'];
    const output = await refusal(app, Object.fromEntries(broken.map((name) => [name, 'canary value'])), 78);
    for (const name of broken) expect(output).toContain(`- ${name} must`);
    expect(output).not.toContain('canary');
  });

  it.each(APPS)('the %s does not start with an unreachable database [J3]', async (app) => {
    const port = String(await freePort());
    const cases = [
      [1, databaseAt({ port }), 'PostgreSQL cannot be reached at DATABASE_URL (ECONNREFUSED)'],
      [78, databaseAt({ pathname: '/nowhere' }), 'DATABASE_URL names a database that does not exist'],
      [
        78,
        databaseAt({ password: 'canary-password' }),
        'PostgreSQL refuses the user or the password of DATABASE_URL',
      ],
    ] as const;
    for (const [code, DATABASE_URL, expected] of cases) {
      const output = await refusal(app, { DATABASE_URL }, code);
      expect(output).toContain(expected);
      expect(output).not.toContain('canary');
    }
  });

  it.each(APPS)('the %s does not start on an outdated schema [J3]', async (app) => {
    const old = await drawbridge.query<{ name: string }>(
      'SELECT name FROM migrations ORDER BY id DESC LIMIT 1',
    );
    await drawbridge.query('DELETE FROM migrations WHERE name = $1', [old[0]!.name]);
    expect(await refusal(app, {})).toContain('older than this release: run drawbridge-admin migrate');
    await drawbridge.query('INSERT INTO migrations (timestamp, name) VALUES (0, $1)', [old[0]!.name]);
  });

  it.each(APPS)(
    'the %s does not start with a master key that cannot decrypt the stored secrets [J3]',
    async (app) => {
      const random = (): string => randomBytes(32).toString('base64');
      for (const MASTER_KEYS of [`1:${random()}`, `2:${random()}`]) {
        expect(await refusal(app, { MASTER_KEYS })).toContain(
          'MASTER_KEYS must open what is stored: it lacks version 1',
        );
      }
    },
  );

  it.each(APPS)('the %s does not start with a REDIS_URL that is not a Redis [J3]', async (app) => {
    const web = createServer((_request, response) => response.end('<html>'));
    await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve));
    const { port } = web.address() as AddressInfo;
    expect(await refusal(app, { REDIS_URL: `redis://127.0.0.1:${port}` })).toContain(
      'REDIS_URL must lead to a Redis',
    );
    web.close();
  });

  it.each(APPS)('the %s starts while Redis is down [J3]', async (app) => {
    const REDIS_URL = `redis://127.0.0.1:${await freePort()}`;
    const started = await start(app, { REDIS_URL });
    expect(started.pid).toBeGreaterThan(0);
    await started.stop('SIGKILL');
  });

  it('a port in use is reported with its variable [J3]', async () => {
    const taken = String(drawbridge.apiServer.port);
    expect(await refusal('api', { PORT: taken }, 1)).toContain('set PORT to a free one');
    expect(await refusal('api', { METRICS_PORT: taken }, 1)).toContain('set METRICS_PORT to a free one');
    expect(await refusal('worker', { METRICS_PORT: taken }, 1)).toContain('set METRICS_PORT to a free one');
  });
});
