import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const ROOT = resolve(__dirname, '../../..');
const NOBODY = 65_534;

describe('a checkout that cannot be written', () => {
  let checkout: string;
  beforeEach(() => {
    checkout = mkdtempSync(join(tmpdir(), 'drawbridge-read-only-'));
    for (const folder of ['apps/launcher/bin', 'tools'])
      cpSync(join(ROOT, folder), join(checkout, folder), { recursive: true });
    chmodSync(checkout, 0o555);
  });
  afterEach(() => {
    chmodSync(checkout, 0o755);
    rmSync(checkout, { recursive: true });
  });

  it('fails with a message that names its path and the remedy, without a stack', () => {
    // root can write everywhere
    const user = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
    const { status, stderr } = spawnSync(process.execPath, ['apps/launcher/bin/drawbridge.mjs', 'prepare'], {
      cwd: checkout,
      encoding: 'utf8',
      ...user,
    });
    expect(status).toBe(1);
    expect(stderr).toContain(`The folder ${checkout} cannot be written (EACCES)`);
    expect(stderr).toContain('copy it to a folder that is');
    expect(stderr).not.toMatch(/mkdir|^\s+at /m);
  });
});
