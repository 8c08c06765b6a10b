import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdtempSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { neededInCi } from './needed-in-ci';

const ROOT = resolve(__dirname, '../..');
const PINNED = join(__dirname, 'node-24');
const CACHE = join(ROOT, 'node_modules', '.cache');
const FOLDER = join(CACHE, 'drawbridge-node-24');
const PROGRAM = join(FOLDER, 'node_modules', `node-${process.platform}-${process.arch}`, 'bin', 'node');

/**
 * Node.js 24, which runs actions. npm installs it, on Linux, from a lock file of its own: among this repository's packages
 * its program would take the place of the Node.js that runs npm's scripts.
 * @returns its path; null where it cannot be had
 */
export function node24(): string | null {
  if (process.versions.node.startsWith('24.')) return process.execPath;
  if (!existsSync(PROGRAM)) install();
  return neededInCi('Node.js 24', existsSync(PROGRAM)) ? PROGRAM : null;
}

/** Several test processes may do it at the same time. */
function install(): void {
  mkdirSync(CACHE, { recursive: true });
  const folder = mkdtempSync(join(CACHE, 'node-24-'));
  try {
    for (const file of ['package.json', 'package-lock.json'])
      copyFileSync(join(PINNED, file), join(folder, file));
    execFileSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: folder, stdio: 'pipe' });
    if (!existsSync(PROGRAM)) renameSync(folder, FOLDER);
  } catch (error) {
    if (existsSync(PROGRAM)) return;
    process.stderr.write(`Node.js 24 could not be installed, actions are not tested: ${String(error)}\n`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
