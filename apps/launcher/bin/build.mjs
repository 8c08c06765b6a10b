import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startProgress } from './progress.mjs';
import { runQuietly } from './run-quietly.mjs';

const settings = ['package.json', 'tsconfig.json', 'tsconfig.build.json'];

/**
 * Compiles all apps and libs in one go when a source, a compiler setting or an output has changed since the last time.
 * The layout is the one `nest build` makes: dist/apps/NAME/src, dist/libs/NAME/src.
 */
export async function buildWhenStale(root) {
  const sources = listSources(root);
  const stampFile = join(root, 'dist', '.build-stamp');
  const stamp = stampOf(root, sources);
  const missing = sources.some((source) => !existsSync(join(root, outputOf(source))));
  if (!missing && existsSync(stampFile) && readFileSync(stampFile, 'utf8') === stamp) return;
  rmSync(stampFile, { force: true });
  // The compiler trusts its record of what it wrote and would not write a lost output again.
  if (missing) rmSync(join(root, 'dist', 'build.tsbuildinfo'), { force: true });
  removeOrphans(root, new Set(sources.map(outputOf)));
  await compile(root);
  writeFileSync(stampFile, stamp);
}

async function compile(root) {
  const done = startProgress('Building...');
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  const record = join('dist', 'build.tsbuildinfo');
  const args = [compiler, '-p', 'tsconfig.build.json', '--tsBuildInfoFile', record];
  const { code, output } = await runQuietly(process.execPath, args, { cwd: root });
  done(code === 0 ? 'Built' : 'Not built');
  if (code !== 0) throw new Error(`${output.trimEnd()}\n\nThe build failed: the compiler's words are above.`);
}

const outputOf = (source) => join('dist', source.replace(/\.ts$/, '.js'));

const isSource = (path) => path.endsWith('.ts') && !path.endsWith('.d.ts') && !path.endsWith('.spec.ts');

/** Paths of all compiled sources, relative to the root, in a stable order. */
function listSources(root) {
  const folders = ['apps', 'libs'].flatMap((floor) =>
    readdirSync(join(root, floor)).map((name) => join(floor, name, 'src')),
  );
  return folders
    .filter((folder) => existsSync(join(root, folder)))
    .flatMap((folder) => filesBelow(root, folder))
    .filter(isSource)
    .sort();
}

const filesBelow = (root, folder) =>
  readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name).slice(root.length + 1));

function stampOf(root, sources) {
  const hash = createHash('sha256');
  for (const path of [...settings, ...sources]) {
    const { mtimeMs, size } = statSync(join(root, path));
    hash.update(`${path} ${mtimeMs} ${size}\n`);
  }
  return hash.digest('hex');
}

/** Removes what was compiled from a source that is gone: a deleted migration must not run. */
function removeOrphans(root, outputs) {
  for (const floor of ['dist/apps', 'dist/libs'].filter((folder) => existsSync(join(root, folder)))) {
    for (const file of filesBelow(root, floor)) {
      const compiled = file.replace(/(\.js\.map|\.d\.ts)$/, '.js');
      if (compiled.endsWith('.js') && !outputs.has(compiled)) rmSync(join(root, file));
    }
  }
}
