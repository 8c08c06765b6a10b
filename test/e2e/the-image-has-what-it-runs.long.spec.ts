import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { DriverRegistry } from '#drivers';
import { driverLoad } from '../builders/resources/driver-load';
import { group, organization } from '../builders/accounts/organization';
import { assembleImage, type AssembledImage } from '../harness/machines/assembled-image';
import { emptyDatabase } from '../harness/database/database';
import { Drawbridge } from '../harness/product/drawbridge';
import { AppProcess } from '../harness/product/processes';
import { endConnections, setReadOnly } from '../harness/database/read-only';
import { serviceUrlOf } from '../harness/database/template';
import { until } from '../harness/until';

const MAX_PACKAGES_MB = 250;

/** Programs: everything else in dist is a module, which can be loaded without starting anything. */
const ADMIN = 'dist/apps/worker/src/admin/main.js';
const PROGRAMS = [
  'dist/apps/api/src/main.js',
  'dist/apps/api/src/docs/write-open-api.js',
  'dist/apps/worker/src/main.js',
  ADMIN,
].map((path) => join(path));

const run = promisify(execFile);

describe('The image', () => {
  let image: AssembledImage;

  /** Runs a script from the image's folder. */
  const node = (args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<unknown> => {
    const { PATH = '', HOME = '' } = process.env;
    return run(process.execPath, args, { cwd: image.folder, env: { PATH, HOME, ...env } });
  };

  beforeAll(async () => {
    image = await assembleImage();
  });
  afterAll(() => image.remove());

  it(`has at most ${MAX_PACKAGES_MB} MB of packages`, () => {
    expect(image.imageMb).toBeGreaterThan(10);
    expect(image.imageMb).toBeLessThanOrEqual(MAX_PACKAGES_MB);
  });

  it('has every module that its modules load', async () => {
    const modules = ['apps', 'libs']
      .flatMap((layer) =>
        readdirSync(join(image.folder, 'dist', layer), { recursive: true, encoding: 'utf8' }).map((file) =>
          join('dist', layer, file),
        ),
      )
      // those of the console are for browsers
      .filter(
        (file) => file.endsWith('.js') && !PROGRAMS.includes(file) && !file.includes('/console/assets/'),
      );
    expect(modules.length).toBeGreaterThan(500);
    const load = `require('reflect-metadata'); for (const each of ${JSON.stringify(modules)}) require('./' + each); process.exit()`;
    await node(['--eval', load]);
  });

  it('has drawbridge-admin, which the Dockerfile links on the PATH', async () => {
    const [, program, link] = /ln -s \/drawbridge\/(\S+) \/image(\S+)/.exec(
      readFileSync('deploy/Dockerfile', 'utf8'),
    )!;
    expect([program, link]).toEqual([ADMIN, '/usr/local/bin/drawbridge-admin']);
    const { PATH = '' } = process.env;
    const command = join(image.folder, 'drawbridge-admin');
    symlinkSync(join(image.folder, ADMIN), command);
    await expect(run(command, ['overdue', '--help'], { cwd: '/', env: { PATH } })).resolves.toMatchObject({
      stdout: expect.stringContaining('drawbridge-admin overdue --json') as string,
    });
  });

  it('creates the tables of an empty database', async () => {
    const { url, drop } = await emptyDatabase();
    const urls = { DATABASE_URL: url, DATABASE_SERVICE_URL: serviceUrlOf(url) };
    const stdout = expect.stringContaining('Migrated') as string;
    await expect(node([ADMIN, 'migrate'], urls)).resolves.toMatchObject({ stdout });
    await drop();
  });

  describe('with a simulated cloud', () => {
    let drawbridge: Drawbridge;

    beforeAll(async () => {
      drawbridge = await Drawbridge.start({ worker: false, apiRelease: image.folder });
      await drawbridge.startWorker({ METRICS_PORT: '0' }, 'test', image.folder);
    });
    afterAll(() => drawbridge.stop());

    it('lets an address in and out', async () => {
      const org = await organization(drawbridge, [{ group: group(0), config: { port: 22 } }]);
      const session = await org.opened({ ipv4Address: '203.0.113.1' });
      expect(await drawbridge.cloud.rules(group(0))).toHaveLength(1);
      await org.closed(session.id);
      expect(await drawbridge.cloud.rules(group(0))).toEqual([]);
    });

    it('tells the health of each process, as Docker asks for it', async () => {
      const [, command] = /^HEALTHCHECK [^\n]*\\\n +CMD (\[.*\])$/m.exec(
        readFileSync('deploy/Dockerfile', 'utf8'),
      )!;
      const [program, ...args] = JSON.parse(command!) as string[];
      expect(program).toBe('node');
      const { port } = drawbridge.worker;
      const check = (): Promise<unknown> => node(args, { METRICS_PORT: String(port) });
      await check();
      drawbridge.worker.signal('SIGSTOP');
      await expect(check()).rejects.toMatchObject({ code: 1 });
      drawbridge.worker.signal('SIGCONT');
      await check();
      await setReadOnly(drawbridge, true);
      await endConnections(drawbridge);
      await until(
        'it is DOWN',
        async () => (await fetch(`http://127.0.0.1:${port}/health/ready`)).status === 503,
      );
      await expect(check()).rejects.toMatchObject({ code: 1 });
      await setReadOnly(drawbridge, false);
    });

    it('serves the web console', async () => {
      const page = await fetch(`http://127.0.0.1:${drawbridge.apiServer.port}/`);
      const [, script] = /<script [^>]*src="(\/assets\/[^"]+)"/.exec(await page.text())!;
      expect((await fetch(new URL(script!, page.url))).status).toBe(200);
    });

    it('serves its documentation', async () => {
      const page = `http://127.0.0.1:${drawbridge.apiServer.port}/docs`;
      const files = ['', '/swagger-ui.css', '/swagger-ui-bundle.js', '/swagger-ui-standalone-preset.js'];
      const statuses = await Promise.all(files.map(async (file) => (await fetch(page + file)).status));
      expect(statuses).toEqual(files.map(() => 200));
    });
  });

  describe('has the SDK', () => {
    let simulator: AppProcess;

    beforeAll(async () => {
      simulator = await AppProcess.start('simulator', { SIMULATOR_PORT: '0' });
    });
    afterAll(() => simulator.stop('SIGKILL'));

    it.each(DriverRegistry.driven)('of %s', async (provider) => {
      const url = `http://127.0.0.1:${simulator.port}`;
      const { loaded } = await driverLoad(provider, url, image.folder);
      expect(loaded).toContain(`${provider.toLowerCase()}.driver.js`);
    });
  });
});
