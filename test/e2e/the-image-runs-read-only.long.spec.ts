import { readFileSync } from 'node:fs';
import { group, organization, type Organization } from '../builders/accounts/organization';
import { BuiltImage } from '../harness/machines/built-image';
import { emptyDatabase } from '../harness/database/database';
import { Drawbridge } from '../harness/product/drawbridge';
import { freePort } from '../harness/network/free-port';
import { RedisServer } from '../harness/database/redis';
import { serviceUrlOf } from '../harness/database/template';

const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
const MAX_MB = 300;

/** Set by .ci/release, which builds the images. */
const IMAGES = process.env['IMAGES'] ?? '';

(IMAGES ? describe : describe.skip)('The image that was built', () => {
  const image = (target: 'api' | 'worker' | 'agent'): BuiltImage => new BuiltImage(IMAGES, target);

  describe.each(['api', 'worker'] as const)('of the %s', (target) => {
    it(`has at most ${MAX_MB} MB`, () => {
      expect(image(target).megabytes).toBeLessThanOrEqual(MAX_MB);
    });

    it('runs as a user without rights, who writes in /tmp only', async () => {
      const sh = (script: string): Promise<string> => image(target).run(['/bin/sh', '-c', script]);
      expect(await sh('id -u; id -g')).toBe('10001\n10001');
      await sh('echo > /tmp/file');
      await expect(sh('echo > /drawbridge/file')).rejects.toThrow('Read-only file system');
      await expect(sh('echo > /file')).rejects.toThrow('Read-only file system');
    });

    it('has no package manager', async () => {
      const find = 'for each in npm npx corepack yarn apt-get dpkg; do command -v $each; done; :';
      expect(await image(target).run(['/bin/sh', '-c', find])).toBe('');
      expect(await image(target).run(['/bin/sh', '-c', 'command -v node'])).toBe('/usr/bin/node');
    });
  });

  it('of the agent tells its version, and has nft', async () => {
    expect(image('agent').megabytes).toBeLessThanOrEqual(MAX_MB);
    expect(await image('agent').run(['--version'])).toContain(version);
    // all have the same system
    expect(await image('worker').run(['nft', '--version'])).toContain('nftables');
  });

  it('creates the tables of an empty database', async () => {
    const { url, drop } = await emptyDatabase();
    const urls = { DATABASE_URL: url, DATABASE_SERVICE_URL: serviceUrlOf(url) };
    expect(await image('worker').run(['drawbridge-admin', 'migrate'], urls)).toContain('Migrated');
    await drop();
  });

  describe('with Redis and a simulated cloud', () => {
    let redis: RedisServer;
    let drawbridge: Drawbridge;
    let org: Organization;
    let metricsPort: number;

    beforeAll(async () => {
      metricsPort = await freePort();
      redis = await RedisServer.start();
      drawbridge = await Drawbridge.start({
        redisUrl: redis.url,
        worker: false,
        apiRelease: image('api'),
        api: { METRICS_PORT: String(metricsPort) },
      });
      await drawbridge.startWorker({ METRICS_PORT: '0' }, 'test', image('worker'));
      org = await organization(drawbridge, [{ group: group(0), config: { port: 22 } }]);
    });
    afterAll(async () => {
      await drawbridge.stop();
      await redis.kill();
    });

    it('lets an address in and out', async () => {
      const addresses = async (): Promise<string[]> =>
        (await drawbridge.cloud.rules(group(0))).map(({ address }) => address);
      const session = await org.opened({ ipv4Address: '203.0.113.1' });
      expect(await addresses()).toEqual(['203.0.113.1']);
      await org.closed(session.id);
      expect(await addresses()).toEqual([]);
    });

    it('tells its health', async () => {
      const { healthCheck } = image('worker');
      await image('worker').run(healthCheck, { METRICS_PORT: String(drawbridge.worker.port) });
      await image('api').run(image('api').healthCheck, { METRICS_PORT: String(metricsPort) });
      await expect(image('worker').run(healthCheck, { METRICS_PORT: '9' })).rejects.toMatchObject({
        code: 1,
      });
    });

    it('serves the web console, and what hosts download', async () => {
      const base = `http://127.0.0.1:${drawbridge.apiServer.port}`;
      expect((await fetch(base)).status).toBe(200);
      const sums = await (await fetch(`${base}/downloads/SHA256SUMS`)).text();
      expect(sums).toMatch(/drawbridge-agent_.*\.deb\n/);
    });
  });
});
