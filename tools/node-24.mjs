import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ROOT } from './files.mjs';

const PINNED = join(ROOT, 'tools', 'node-24');
const CACHE = join(ROOT, 'node_modules', '.cache');
const FOLDER = join(CACHE, 'drawbridge-node');
const PROGRAM = join(FOLDER, 'node_modules', `node-${process.platform}-${process.arch}`, 'bin', 'node');

/**
 * Node.js 24, which runs actions, and tests in three quarters of the processor time of Node.js 20. npm installs it, on Linux,
 * from a lock file of its own: among this repository's packages its program would take the place of the Node.js that runs
 * npm's scripts.
 * @returns {string | null} its path; null where it cannot be had
 */
export function node24() {
  if (process.versions.node.startsWith('24.')) return process.execPath;
  if (!existsSync(PROGRAM)) install();
  return existsSync(PROGRAM) ? PROGRAM : null;
}

/** Several processes may do it at the same time. */
function install() {
  mkdirSync(CACHE, { recursive: true });
  const folder = mkdtempSync(join(CACHE, 'node-24-'));
  // tests run programs as other users, too
  chmodSync(folder, 0o755);
  try {
    for (const file of ['package.json', 'package-lock.json'])
      copyFileSync(join(PINNED, file), join(folder, file));
    execFileSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: folder, stdio: 'pipe' });
    if (!existsSync(PROGRAM)) renameSync(folder, FOLDER);
  } catch (error) {
    if (!existsSync(PROGRAM)) process.stderr.write(`Node.js 24 could not be installed: ${String(error)}\n`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.stdout.write(node24() ?? '');
