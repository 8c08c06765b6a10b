import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';

/** What hosts download, relative to the root. The API serves the files that SHA256SUMS names. */
export const DOWNLOADS = join('dist', 'downloads');
export const CHECKSUMS = 'SHA256SUMS';

export const AGENT = join('dist', 'agent', 'drawbridge-agent.cjs');
export const CLI = join('dist', 'cli', 'drawbridge.mjs');
const INSTALLER = join('deploy', 'agent', 'install-agent.sh');
export const UNITS = ['drawbridge-agent.service', 'drawbridge-guard.service'].map((name) =>
  join('deploy', 'agent', name),
);

/** Files that are downloaded as they are in the repository. */
export const COPIED = [INSTALLER, ...UNITS];

/**
 * Publishes the bundles and what is copied. The agent's packages stay only while they contain the same program and units: hosts would
 * install an older agent than the one beside it.
 * @param {string} root
 */
export function publish(root) {
  const folder = join(root, DOWNLOADS);
  const isSame = [AGENT, ...UNITS].every((path) => {
    const published = join(folder, basename(path));
    return existsSync(published) && hashOf(published) === hashOf(join(root, path));
  });
  if (!isSame) rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const path of [AGENT, CLI, ...COPIED]) copyFileSync(join(root, path), join(folder, basename(path)));
  writeChecksums(root);
}

/**
 * Names every file of the folder in SHA256SUMS, as sha256sum does.
 * @param {string} root
 */
export function writeChecksums(root) {
  const folder = join(root, DOWNLOADS);
  const names = readdirSync(folder).filter((name) => !name.startsWith(CHECKSUMS));
  const lines = names.toSorted().map((name) => `${hashOf(join(folder, name))}  ${name}\n`);
  // renamed, so that nobody downloads half of it
  const written = join(folder, `${CHECKSUMS}.new`);
  writeFileSync(written, lines.join(''));
  renameSync(written, join(folder, CHECKSUMS));
}

/** @param {string} file */
const hashOf = (file) => createHash('sha256').update(readFileSync(file)).digest('hex');
