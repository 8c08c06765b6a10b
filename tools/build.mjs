import { createHash } from 'node:crypto';
import { existsSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeClientTypes } from './client-types.mjs';
import { COPIED, PUBLISHED } from './downloads.mjs';
import { filesBelow, readIfPresent, ROOT } from './files.mjs';
import { step } from './progress.mjs';
import { run } from './run.mjs';

const SETTINGS = [
  'package.json',
  'tsconfig.json',
  'tsconfig.build.json',
  'tools/bundle.mjs',
  'tools/console.mjs',
  'tools/downloads.mjs',
  ...COPIED,
];
const CONSOLE = 'dist/apps/console/index.html';
const STAMP = join(ROOT, 'dist/.build-stamp');

/**
 * Compiles all apps and libs in one go when a source, a compiler setting or an output has changed since the last time.
 * Output: dist/apps/NAME/src, dist/libs/NAME/src.
 */
export async function buildWhenStale() {
  await writeClientTypes();
  const sources = listSources();
  const outputs = sources.map(outputOf);
  const stamp = stampOf([...sources, ...filesBelow('apps/console')]);
  const isMissing = [...outputs, ...PUBLISHED, CONSOLE].some((output) => !existsSync(join(ROOT, output)));
  if (!isMissing && readIfPresent(STAMP) === stamp) return;
  rmSync(STAMP, { force: true });
  // The compiler trusts its build info and does not write a missing output again.
  if (isMissing) rmSync(join(ROOT, 'dist/build.tsbuildinfo'), { force: true });
  removeOrphans(new Set(outputs));
  await step('Building (about a minute)...', 'Built', build, {
    seconds: 120,
    else: 'this machine is slow or busy',
  });
  writeFileSync(STAMP, stamp);
}

async function build() {
  await run(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json']);
  // imported here because the bundlers are packages, installed before the build
  const { bundleDownloads } = await import('./bundle.mjs');
  await bundleDownloads();
  const { buildConsole } = await import('./console.mjs');
  await buildConsole();
}

/** @param {string} source */
const outputOf = (source) => `dist/${source.replace(/\.ts$/, '.js')}`;

/** Paths of all sources that the compiler writes, relative to the root. The console has a bundler of its own. */
const listSources = () =>
  ['apps', 'libs']
    .flatMap((layer) => readdirSync(join(ROOT, layer)).map((name) => `${layer}/${name}/src`))
    .filter((folder) => existsSync(join(ROOT, folder)))
    .flatMap(filesBelow)
    .filter(
      (path) =>
        path.endsWith('.ts') && !path.startsWith('apps/console/') && !/\.(d|spec|testing)\.ts$/.test(path),
    );

/** @param {string[]} sources */
function stampOf(sources) {
  const lines = [...SETTINGS, ...sources].map((path) => {
    const { mtimeMs, size } = statSync(join(ROOT, path));
    return `${path} ${mtimeMs} ${size}`;
  });
  // sorted: the order of a directory listing is not fixed
  return createHash('sha256').update(lines.toSorted().join('\n')).digest('hex');
}

/**
 * Removes the outputs of deleted sources: a deleted migration must not run.
 * @param {Set<string>} outputs
 */
function removeOrphans(outputs) {
  for (const file of ['dist/apps', 'dist/libs']
    .filter((path) => existsSync(join(ROOT, path)))
    .flatMap(filesBelow)
    .filter((path) => !path.startsWith('dist/apps/console/'))) {
    const compiled = file.replace(/(\.js\.map|\.d\.ts)$/, '.js');
    if (compiled.endsWith('.js') && !outputs.has(compiled)) rmSync(join(ROOT, file));
  }
}
