import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { startProgress } from './progress.mjs';
import { runQuietly } from './run-quietly.mjs';

/** Installs the packages when node_modules is missing or is not what the lock file describes. */
export async function installWhenStale(root) {
  const stamp = join(root, 'node_modules', '.drawbridge-lock-hash');
  const lock = readFileSync(join(root, 'package-lock.json'));
  const hash = createHash('sha256').update(lock).digest('hex');
  if (readIfPresent(stamp) === hash) return;
  if (!isInstalled(root, lock)) await install(root);
  writeFileSync(stamp, hash);
}

async function install(root) {
  const done = startProgress('Installing packages (about a minute, once)...');
  const [program, ...leading] = npm();
  const args = [...leading, 'ci', '--no-audit', '--no-fund', '--include=dev'];
  const { code, output } = await runQuietly(program, args, { cwd: root, shell: program === 'npm.cmd' });
  done(code === 0 ? 'Packages installed' : 'Packages not installed');
  if (code !== 0)
    throw new Error(`${output.trimEnd()}\n\nnpm ci failed (exit code ${code}): its words are above.`);
}

/** The npm that runs this command, or else the one on the PATH. */
function npm() {
  const running = process.env.npm_execpath ?? '';
  if (basename(running) === 'npm-cli.js' && existsSync(running)) return [process.execPath, running];
  return process.platform === 'win32' ? ['npm.cmd'] : ['npm'];
}

/** True when npm's own record of node_modules holds every package that the lock file does not call optional. */
function isInstalled(root, lock) {
  const record = readIfPresent(join(root, 'node_modules', '.package-lock.json'));
  if (record === undefined) return false;
  const present = JSON.parse(record).packages ?? {};
  const wanted = JSON.parse(lock.toString('utf8')).packages ?? {};
  return Object.entries(wanted).every(([path, { version, optional, devOptional }]) => {
    if (path === '') return true;
    const found = present[path];
    return found === undefined ? Boolean(optional ?? devOptional) : found.version === version;
  });
}

function readIfPresent(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  }
}
