import type { Schemas } from '#client';
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { createServer, type Socket } from 'node:net';
import { resolve } from 'node:path';
import { fetchDocumented } from '../harness/contract/published-contract';
import { containing } from '../harness/matching';
import { freePort } from '../harness/network/free-port';
import { LocalServer } from '../harness/network/local-server';
import { Drawbridge } from '../harness/product/drawbridge';

type Listed = Schemas['DownloadDto'];

const drawbridge = Drawbridge.shared({ worker: false });

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

const get = (path: string, init?: RequestInit): ReturnType<typeof fetchDocumented> =>
  fetchDocumented(`http://127.0.0.1:${drawbridge.apiServer.port}`, path, init);

/** Sends the request as it is: fetch resolves dots in the path, and asks caches not to answer. */
const statusOf = (path: string, headers: Record<string, string> = {}): Promise<number | undefined> =>
  new Promise((answered, failed) => {
    request({ host: '127.0.0.1', port: drawbridge.apiServer.port, path, headers }, (response) => {
      response.resume();
      answered(response.statusCode);
    })
      .on('error', failed)
      .end();
  });

const listed = async (): Promise<Listed[]> =>
  JSON.parse((await get('/downloads/')).bytes.toString('utf8')) as Listed[];

describe('Files for hosts can be downloaded', () => {
  it('the list has what every build makes, and is public', async () => {
    expect(await get('/downloads')).toMatchObject({ status: 200 });
    const names = (await listed()).map(({ name }) => name);
    expect(names).toEqual(
      expect.arrayContaining([
        'drawbridge-agent.cjs',
        'drawbridge.mjs',
        'install-agent.sh',
        'drawbridge-agent.service',
        'drawbridge-guard.service',
        'SHA256SUMS',
      ]),
    );
  });

  it('each file has the size and the checksum of the list, and says what it is', async () => {
    for (const { name, size, sha256: expected } of await listed()) {
      const response = await get(`/downloads/${name}`);
      expect([name, response.status, sha256(response.bytes)]).toEqual([name, 200, expected]);
      expect(Object.fromEntries(response.headers)).toMatchObject({
        'content-length': String(size),
        'content-disposition': `attachment; filename="${name}"`,
        'cache-control': 'no-cache',
        etag: `"${expected}"`,
        'x-content-type-options': 'nosniff',
      });
    }
  });

  it('SHA256SUMS has the checksums of all others, as sha256sum writes them', async () => {
    const sums = (await get('/downloads/SHA256SUMS')).bytes.toString('utf8');
    const files = (await listed()).filter(({ name }) => name !== 'SHA256SUMS');
    expect(sums).toBe(files.map(({ name, sha256: sum }) => `${sum}  ${name}\n`).join(''));
  });

  it('a file that was downloaded before is not sent again', async () => {
    const { headers } = await get('/downloads/install-agent.sh');
    const known = { 'If-None-Match': headers.get('etag')! };
    expect(await statusOf('/downloads/install-agent.sh', known)).toBe(304);
    const head = await get('/downloads/install-agent.sh', { method: 'HEAD' });
    expect(head.headers.get('content-length')).toBe(headers.get('content-length'));
  });

  it('a file that was not built: 404 that names the command', async () => {
    const response = await get('/downloads/drawbridge-agent_9.9.9_amd64.deb');
    expect(response.status).toBe(404);
    expect(JSON.parse(response.bytes.toString('utf8'))).toMatchObject({
      error: 'Not Found',
      message: containing('npm run build:agent-packages'),
    });
    expect(response.headers.get('content-disposition')).toBeNull();
  });

  it.each([
    '..%2f..%2fpackage.json',
    '..%2fagent%2fdrawbridge-agent.cjs',
    '%2fetc%2fpasswd',
    '%2e%2e',
    '../../package.json',
    'SHA256SUMS%00',
    'constructor',
  ])('%s: 404, nothing outside of the list is served', async (path) => {
    expect(await statusOf(`/downloads/${path}`)).toBe(404);
  });

  it('requests are counted by the rate limit, and under the API’s prefix there are none', async () => {
    const { headers } = await get('/downloads/install-agent.sh');
    expect(headers.get('x-ratelimit-limit')).not.toBeNull();
    expect((await get('/api/v1/downloads/install-agent.sh')).status).toBe(404);
  });
});

/** Runs commands with the functions of the installer, without `main`, which needs a host to install on. */
const withInstaller = (commands: string, ...args: string[]): Promise<{ code: number; stdout: string }> =>
  new Promise((done) => {
    const script = readFileSync(resolve(__dirname, '../../deploy/agent/install-agent.sh'), 'utf8');
    const functions = script.replace(/^main "\$@"$/m, '');
    execFile('sh', ['-c', `${functions}\n${commands}`, 'sh', ...args], (error, stdout) =>
      done({ code: error ? Number(error.code) : 0, stdout }),
    );
  });

describe('The installer of the agent', () => {
  it('takes https, and http from this host only, whatever looks like it', async () => {
    const taken =
      'https://a.example http://localhost http://localhost:3000/a http://127.0.0.1:3000 http://[::1]:3000';
    const refused =
      'http://a.example http://localhost.a.example http://localhost@a.example http://localhost:80@a.example ' +
      'http://127.0.0.1.a.example http://127.a.example:80 http://[::1].a.example ftp://localhost';
    const each = 'for server; do (name=host; read_settings 2>/dev/null && echo "$server") || :; done';
    const { stdout } = await withInstaller(each, ...`${taken} ${refused}`.split(' '));
    expect(stdout.trim().split('\n')).toEqual(taken.split(' '));
  });

  it.each(['curl', 'wget'])('%s follows no redirect to another protocol', async (tool) => {
    const port = await freePort();
    const followed: Socket[] = [];
    const other = createServer((socket) => followed.push(socket.destroy())).listen(port, '127.0.0.1');
    const moved = { status: 302, headers: { location: `ftp://127.0.0.1:${port}/evil` }, body: '' };
    const here = await LocalServer.start(() => moved);
    const only = `has() { [ "$1" = ${tool} ]; }\nserver=$1 work=$(mktemp -d)\nget SHA256SUMS`;
    const { code } = await withInstaller(only, here.url);
    await here.stop();
    other.close();
    expect([code, followed]).toEqual([1, []]);
  });
});
