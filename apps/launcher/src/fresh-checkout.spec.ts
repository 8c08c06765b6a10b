import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, cpSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';

const ROOT = resolve(__dirname, '../../..');
const PROGRAM = 'apps/launcher/bin/drawbridge.mjs';
const NOBODY = 65_534;

describe('A checkout in which nothing is installed', () => {
  let checkout: string;
  beforeEach(() => {
    checkout = mkdtempSync(join(tmpdir(), 'drawbridge-fresh-'));
    for (const folder of ['apps/launcher/bin', 'tools'])
      cpSync(join(ROOT, folder), join(checkout, folder), { recursive: true });
  });
  afterEach(() => {
    chmodSync(checkout, 0o755);
    rmSync(checkout, { recursive: true });
  });

  it('that cannot be written: the message names its path and the remedy, without a stack', () => {
    chmodSync(checkout, 0o555);
    // root can write everywhere
    const user = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
    const { status, stderr } = spawnSync(process.execPath, [PROGRAM, 'prepare'], {
      cwd: checkout,
      encoding: 'utf8',
      ...user,
    });
    expect(status).toBe(1);
    expect(stderr).toContain(`The folder ${checkout} cannot be written (EACCES)`);
    expect(stderr).toContain('copy it to a folder that is');
    expect(stderr).not.toMatch(/mkdir|^\s+at /m);
  });

  it('whose ports are taken: both are told before anything is installed', async () => {
    const servers: Server[] = [createServer(), createServer()];
    const [one, other] = await Promise.all(
      servers.map(async (server) => {
        await once(server.listen(0, '127.0.0.1'), 'listening');
        return (server.address() as AddressInfo).port;
      }),
    );
    const env = { PATH: process.env['PATH'], PORT: `${one}`, SIMULATOR_PORT: `${other}` };
    const started = spawn(process.execPath, [PROGRAM, 'start'], { cwd: checkout, env });
    const [said] = await Promise.all([text(started.stderr), once(started, 'close')]);
    for (const server of servers) server.close();
    expect(started.exitCode).toBe(1);
    expect(said).toContain(`port ${one} (PORT), port ${other} (SIMULATOR_PORT)`);
    const [, port, simulator] = /^ {2}PORT=(\d+) SIMULATOR_PORT=(\d+) npm start$/m.exec(said)!;
    expect([one, other]).not.toContain(Number(port));
    expect([one, other, Number(port)]).not.toContain(Number(simulator));
  });
});
