import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { claimPorts, type PortWish } from './ports';
import { startTimeOf } from './processes';
import { takeRunLock } from './run-lock';
import { loadSecrets } from './secrets-file';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'drawbridge-launcher-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const holder = (pid: number, startTime: string, dataDir = folder): string =>
  JSON.stringify({ pid, startTime, address: 'http://localhost:3000', dataDir });

describe('takeRunLock', () => {
  const path = (): string => join(folder, 'running.json');

  it('can be taken again after its release', () => {
    takeRunLock(folder, 'http://localhost:3000').release();
    expect(readdirSync(folder)).toEqual([]);
    expect(takeRunLock(folder, 'http://localhost:3000').wasStale).toBe(false);
  });

  it('refuses a second run and names the process and address of the first one', async () => {
    const other = spawn(process.execPath, ['-e', 'process.stdin.resume()'], {
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    await once(other, 'spawn');
    const { pid = 0 } = other;
    writeFileSync(path(), holder(pid, startTimeOf(pid)));
    expect(() => takeRunLock(folder, 'x')).toThrow(`process ${pid}, http://localhost:3000`);
    other.kill();
    await once(other, 'exit');
    expect(takeRunLock(folder, 'x').wasStale).toBe(true);
  });

  it.each([
    ['of another process with the same pid', () => holder(process.ppid, 'another time')],
    ['of an earlier process with our pid', () => holder(process.pid, startTimeOf(process.pid))],
    [
      'that came with a copy of the folder',
      () => holder(process.ppid, startTimeOf(process.ppid), '/elsewhere'),
    ],
    ['with damaged content', () => '{"pid":'],
  ])('takes over a lock %s', (_description, text) => {
    writeFileSync(path(), text());
    const lock = takeRunLock(folder, 'x');
    expect(lock.wasStale).toBe(true);
    expect(readdirSync(folder)).toEqual(['running.json']);
  });

  it('does not release a lock that another run has taken over', () => {
    const lock = takeRunLock(folder, 'x');
    writeFileSync(path(), holder(1, 'another run'));
    lock.release();
    expect(readdirSync(folder)).toEqual(['running.json']);
  });
});

describe('loadSecrets', () => {
  it('generates them once and stores them readable by their owner only', () => {
    const generated = loadSecrets(folder, {});
    expect(generated.JWT_SECRET).toMatch(/^[0-9a-f]{64}$/);
    expect(Buffer.from(generated.MASTER_KEYS.slice(2), 'base64')).toHaveLength(32);
    expect(loadSecrets(folder, {})).toEqual(generated);
    expect(statSync(join(folder, 'secrets.json')).mode & 0o777).toBe(0o600);
  });

  it('does not store secrets from the environment', () => {
    const given = { JWT_SECRET: 'j', MASTER_KEYS: 'm' };
    expect(loadSecrets(folder, given)).toEqual(given);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('does not generate new keys for an existing database', () => {
    mkdirSync(join(folder, 'postgres'));
    expect(() => loadSecrets(folder, {})).toThrow('Put that file back or set MASTER_KEYS');
  });

  it('does not overwrite a damaged file', () => {
    writeFileSync(join(folder, 'secrets.json'), '{');
    expect(() => loadSecrets(folder, {})).toThrow('secrets.json cannot be read');
  });
});

describe('claimPorts', () => {
  const taken = async (): Promise<{ port: number; close: () => void }> => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    return { port: (server.address() as AddressInfo).port, close: () => server.close() };
  };
  const wishes = (port: number, simulator: number, metrics: number): PortWish[] => [
    { variable: 'PORT', port, count: 1 },
    { variable: 'SIMULATOR_PORT', port: simulator, count: 1 },
    { variable: 'METRICS_PORT', port: metrics, count: 2 },
  ];

  it('names all that are in use, also on one address only, with free ones, which it accepts', async () => {
    const [one, other, third] = [await taken(), await taken(), await taken()];
    const wished = wishes(one.port, other.port, third.port - 1);
    const refused = claimPorts(wished, 0, ['DATA_DIR=elsewhere']).then(String, String);
    expect(await refused).toContain(
      `Port ${one.port} (PORT) is in use, port ${other.port} (SIMULATOR_PORT) is in use`,
    );
    expect(await refused).toContain(`port ${third.port} (METRICS_PORT) is in use`);
    const command = /DATA_DIR=elsewhere PORT=(\d+) SIMULATOR_PORT=(\d+) METRICS_PORT=(\d+) npm start/;
    const [port, simulator, metrics] = command
      .exec(await refused)!
      .slice(1)
      .map(Number);
    const free = await claimPorts(wishes(port!, simulator!, metrics!));
    expect(free).toEqual([[port], [simulator], [metrics, metrics! + 1]]);
    expect(new Set(free.flat()).size).toBe(4);
    for (const each of [one, other, third]) each.close();
  });

  it('waits for a port that is about to be free', async () => {
    const { port, close } = await taken();
    const claimed = claimPorts([{ variable: 'PORT', port, count: 1 }], 10_000);
    close();
    await expect(claimed).resolves.toEqual([[port]]);
  });

  it('selects free ports for 0', async () => {
    const [[one, other]] = (await claimPorts([{ variable: 'METRICS_PORT', port: 0, count: 2 }])) as [
      number[],
    ];
    expect(one).toBeGreaterThan(0);
    expect(other).not.toBe(one);
  });
});
