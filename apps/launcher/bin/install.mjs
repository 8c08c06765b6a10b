import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { readIfPresent } from './files.mjs';
import { startProgress } from './progress.mjs';
import { runQuietly } from './run-quietly.mjs';

/** @typedef {Record<string, { version?: string, optional?: boolean, devOptional?: boolean } | undefined>} Packages */

/**
 * Installs the packages when node_modules is missing or differs from the lock file.
 * @param {string} root
 */
export async function installWhenStale(root) {
  const stamp = join(root, 'node_modules', '.drawbridge-lock-hash');
  const lock = readFileSync(join(root, 'package-lock.json'), 'utf8');
  const hash = createHash('sha256').update(lock).digest('hex');
  if (readIfPresent(stamp) === hash) return;
  if (!isInstalled(root, lock)) await install(root);
  writeFileSync(stamp, hash);
}

/** @param {string} root */
async function install(root) {
  const done = startProgress('Installing packages (about a minute, once)...');
  const { program, leading, shell } = npm();
  const args = [...leading, 'ci', '--no-audit', '--no-fund', '--include=dev'];
  const { code, output } = await runQuietly(program, args, { cwd: root, shell });
  done(code === 0 ? 'Packages installed' : 'Packages not installed');
  if (code !== 0)
    throw new Error(`${output.trimEnd()}\n\nnpm ci failed (exit code ${code}): see its output above.`);
}

/** The npm that runs this command, else the one on the PATH, which Windows can only start through a shell. */
export function npm() {
  const running = process.env['npm_execpath'] ?? '';
  if (basename(running) === 'npm-cli.js' && existsSync(running)) {
    return { program: process.execPath, leading: [running], shell: false };
  }
  return { program: 'npm', leading: [], shell: process.platform === 'win32' };
}

/**
 * Whether npm's record of node_modules has every package of the lock file that is not optional.
 * @param {string} root
 * @param {string} lock
 */
function isInstalled(root, lock) {
  const record = readIfPresent(join(root, 'node_modules', '.package-lock.json'));
  if (record === undefined) return false;
  const present = packagesIn(record);
  return Object.entries(packagesIn(lock)).every(([path, required]) => {
    const found = present[path];
    if (path === '' || !required) return true;
    return found ? found.version === required.version : Boolean(required.optional ?? required.devOptional);
  });
}

/**
 * @param {string} lock
 * @returns {Packages}
 */
function packagesIn(lock) {
  const { packages = {} } = /** @type {(text: string) => { packages?: Packages }} */ (JSON.parse)(lock);
  return packages;
}
