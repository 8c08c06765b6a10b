import { createHash } from 'node:crypto';
import { existsSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeClientTypes } from './client-types.mjs';
import { compile, listSources, outputOf } from './compile.mjs';
import { COPIED, PUBLISHED } from './downloads.mjs';
import { filesBelow, readIfPresent, ROOT } from './files.mjs';
import { step } from './progress.mjs';

const SETTINGS = [
  'package.json',
  'tsconfig.json',
  'tools/bundle.mjs',
  'tools/compile.mjs',
  'tools/console.mjs',
  'tools/downloads.mjs',
  'tools/swc.cjs',
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
  removeOrphans(new Set(outputs));
  await step('Building...', 'Built', () => build(sources), {
    seconds: 30,
    else: 'this machine is slow or busy',
  });
  writeFileSync(STAMP, stamp);
}

/** @param {string[]} sources */
async function build(sources) {
  await compile(sources);
  // imported here because the bundlers are packages, installed before the build
  const { bundleDownloads } = await import('./bundle.mjs');
  await bundleDownloads();
  const { buildConsole } = await import('./console.mjs');
  await buildConsole();
}

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
