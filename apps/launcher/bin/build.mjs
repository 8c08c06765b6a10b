import { createHash } from 'node:crypto';
import { existsSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AGENT, CHECKSUMS, CLI, COPIED, DOWNLOADS } from './downloads.mjs';
import { readIfPresent } from './files.mjs';
import { startProgress } from './progress.mjs';
import { runQuietly } from './run-quietly.mjs';

const SETTINGS = [
  'package.json',
  'tsconfig.json',
  'tsconfig.build.json',
  'apps/launcher/bin/bundle-agent.mjs',
  'apps/launcher/bin/bundle-cli.mjs',
  'apps/launcher/bin/downloads.mjs',
  ...COPIED,
];

/**
 * Compiles all apps and libs in one go when a source, a compiler setting or an output has changed since the last time.
 * Output: dist/apps/NAME/src, dist/libs/NAME/src.
 * @param {string} root
 */
export async function buildWhenStale(root) {
  const sources = listSources(root);
  const stampFile = join(root, 'dist', '.build-stamp');
  const stamp = stampOf(root, sources);
  const isMissing = [...sources.map(outputOf), AGENT, CLI, join(DOWNLOADS, CHECKSUMS)].some(
    (output) => !existsSync(join(root, output)),
  );
  if (!isMissing && readIfPresent(stampFile) === stamp) return;
  rmSync(stampFile, { force: true });
  // The compiler trusts its build info and does not write a missing output again.
  if (isMissing) rmSync(join(root, 'dist', 'build.tsbuildinfo'), { force: true });
  removeOrphans(root, new Set(sources.map(outputOf)));
  await compile(root);
  // imported here because the bundler is a package, installed before the build
  const { bundleDownloads } = await import('./bundle-downloads.mjs');
  await bundleDownloads(root);
  writeFileSync(stampFile, stamp);
}

/** @param {string} root */
async function compile(root) {
  const done = startProgress('Building...');
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  const args = [compiler, '-p', 'tsconfig.build.json'];
  const { code, output } = await runQuietly(process.execPath, args, { cwd: root });
  done(code === 0 ? 'Built' : 'Not built');
  if (code !== 0)
    throw new Error(`${output.trimEnd()}\n\nThe build failed: see the compiler's output above.`);
}

/** @param {string} source */
const outputOf = (source) => join('dist', source.replace(/\.ts$/, '.js'));

/** @param {string} path */
const isSource = (path) =>
  path.endsWith('.ts') && !path.endsWith('.d.ts') && !/\.(spec|testing)\.ts$/.test(path);

/**
 * Paths of all compiled sources, relative to the root.
 * @param {string} root
 */
function listSources(root) {
  return ['apps', 'libs']
    .flatMap((layer) => readdirSync(join(root, layer)).map((name) => join(layer, name, 'src')))
    .filter((folder) => existsSync(join(root, folder)))
    .flatMap((folder) => filesBelow(root, folder))
    .filter(isSource);
}

/**
 * @param {string} root
 * @param {string} folder relative to the root, as are the paths returned
 */
const filesBelow = (root, folder) =>
  readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1));

/**
 * @param {string} root
 * @param {string[]} sources
 */
function stampOf(root, sources) {
  const lines = [...SETTINGS, ...sources].map((path) => {
    const { mtimeMs, size } = statSync(join(root, path));
    return `${path} ${mtimeMs} ${size}`;
  });
  // sorted: the order of a directory listing is not fixed
  return createHash('sha256').update(lines.toSorted().join('\n')).digest('hex');
}

/**
 * Removes the outputs of deleted sources: a deleted migration must not run.
 * @param {string} root
 * @param {Set<string>} outputs
 */
function removeOrphans(root, outputs) {
  for (const folder of ['dist/apps', 'dist/libs'].filter((path) => existsSync(join(root, path)))) {
    for (const file of filesBelow(root, folder)) {
      const compiled = file.replace(/(\.js\.map|\.d\.ts)$/, '.js');
      if (compiled.endsWith('.js') && !outputs.has(compiled)) rmSync(join(root, file));
    }
  }
}
