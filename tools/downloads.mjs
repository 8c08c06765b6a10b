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
import { ROOT } from './files.mjs';

/** What hosts download, relative to the root. The API serves the files that SHA256SUMS names. */
export const DOWNLOADS = 'dist/downloads';
const CHECKSUMS = 'SHA256SUMS';

/** What a release has built of the provider for Terraform. */
export const PROVIDER_FILES = 'integrations/terraform/dist';

export const AGENT = 'dist/agent/drawbridge-agent.cjs';
export const CLI = 'dist/cli/drawbridge.mjs';
export const UNITS = ['deploy/agent/drawbridge-agent.service', 'deploy/agent/drawbridge-guard.service'];

/** Files that are downloaded as they are in the repository. */
export const COPIED = ['deploy/agent/install-agent.sh', ...UNITS];

/** What a build without the agent's packages writes. */
export const PUBLISHED = [AGENT, CLI, `${DOWNLOADS}/${CHECKSUMS}`];

/**
 * Publishes the bundles and what is copied. The agent's packages stay only while they contain the same program and units:
 * hosts would install an older agent than the one beside it.
 */
export function publish() {
  const folder = join(ROOT, DOWNLOADS);
  const isSame = [AGENT, ...UNITS].every((path) => {
    const published = join(folder, basename(path));
    return existsSync(published) && hashOf(published) === hashOf(join(ROOT, path));
  });
  if (!isSame) rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const path of [AGENT, CLI, ...COPIED]) copyFileSync(join(ROOT, path), join(folder, basename(path)));
  const built = existsSync(join(ROOT, PROVIDER_FILES)) ? readdirSync(join(ROOT, PROVIDER_FILES)) : [];
  for (const name of built.filter((each) => /_linux_\w+\.zip$/.test(each)))
    copyFileSync(join(ROOT, PROVIDER_FILES, name), join(folder, name));
  writeChecksums();
}

/** Names every file of the folder in SHA256SUMS, as sha256sum does. */
export function writeChecksums() {
  const folder = join(ROOT, DOWNLOADS);
  const names = readdirSync(folder).filter((name) => !name.startsWith(CHECKSUMS));
  const lines = names.toSorted().map((name) => `${hashOf(join(folder, name))}  ${name}\n`);
  // renamed, so that no client downloads half of it
  const written = join(folder, `${CHECKSUMS}.new`);
  writeFileSync(written, lines.join(''));
  renameSync(written, join(folder, CHECKSUMS));
}

/** @param {string} file */
const hashOf = (file) => createHash('sha256').update(readFileSync(file)).digest('hex');
