import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readIfPresent, ROOT } from '../../../tools/files.mjs';
import { step } from '../../../tools/progress.mjs';
import { npm } from '../../../tools/run.mjs';

/** @typedef {Record<string, { version?: string, optional?: boolean, devOptional?: boolean } | undefined>} Packages */

/** Installs the packages when node_modules is missing or differs from the lock file. */
export async function installWhenStale() {
  const stamp = join(ROOT, 'node_modules', '.drawbridge-lock-hash');
  const lock = readFileSync(join(ROOT, 'package-lock.json'), 'utf8');
  const hash = createHash('sha256').update(lock).digest('hex');
  if (readIfPresent(stamp) === hash) return;
  if (!isInstalled(lock)) {
    await step(
      'Installing packages, once (about a minute)...',
      'Packages installed',
      () => npm('ci', '--no-audit', '--no-fund', '--include=dev'),
      { seconds: 120, else: 'the registry, the disk or this machine is slow' },
    );
  }
  writeFileSync(stamp, hash);
}

/**
 * Whether npm's record of node_modules has every package of the lock file that is not optional.
 * @param {string} lock
 */
function isInstalled(lock) {
  const record = readIfPresent(join(ROOT, 'node_modules', '.package-lock.json'));
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
const packagesIn = (lock) => JSON.parse(lock).packages ?? {};
