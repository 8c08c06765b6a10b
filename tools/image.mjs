/**
 * Copies the programs of the image and the part of their packages that they can load into a new folder: code that no
 * program reaches, such as builds for browsers, types and source maps, is left out. Prints the megabytes of all production
 * packages, and of what was copied of them.
 */
import { chmodSync, cpSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { build } from 'esbuild';
import { filesBelow, ROOT } from './files.mjs';

const PROGRAMS = ['dist/apps/api', 'dist/apps/worker'];
const CONSOLE = 'dist/apps/console';
const COPIED = [...PROGRAMS, CONSOLE, 'dist/libs', 'dist/downloads', 'package.json'];

/** Run by its name: the Dockerfile puts it on the PATH. */
const ADMIN = 'dist/apps/worker/src/admin/main.js';

/** For programs outside of the image; the command line among the downloads contains it. */
const LEFT_OUT = join(ROOT, 'dist/libs/client');

/** Its scripts are loaded by browsers, and by a framework in a way that cannot be traced. */
const SERVED = 'node_modules/swagger-ui-dist';

/** Code, and what only compilers and readers of code load. Other files, such as style sheets, belong to code unseen. */
const CODE = /\.([cm]?[jt]sx?|map|md|flow|tsbuildinfo|proto)$/i;
const LICENCE = /(^|\/)(licen[cs]e|notice|copying)[^/]*$/i;

/** @param {string} folder */
async function assemble(folder) {
  // without it the API would answer as if it were turned off
  if (!existsSync(join(ROOT, CONSOLE))) throw new Error(`There is no ${CONSOLE}: build the console first`);
  const reached = await reachedFiles();
  const files = [...new Set([SERVED, ...[...reached].flatMap((file) => packageOf(file) ?? [])])]
    .flatMap(ownFiles)
    .filter((file) => reached.has(file) || isKept(file));
  for (const path of [...COPIED, ...files].filter((each) => existsSync(join(ROOT, each)))) {
    cpSync(join(ROOT, path), join(folder, path), {
      recursive: true,
      filter: (source) => source !== LEFT_OUT,
    });
  }
  for (const path of files.filter((each) => each.endsWith('.json'))) compact(join(folder, path));
  chmodSync(join(folder, ADMIN), 0o755);
  const installed = productionPackages().flatMap(ownFiles);
  const copied = files.map((file) => resolve(folder, file)).filter((file) => existsSync(file));
  console.log(JSON.stringify({ installedMb: megabytes(installed), imageMb: megabytes(copied) }));
}

/**
 * The files that the programs load, resolved as Node.js does.
 * @returns {Promise<Set<string>>} paths relative to the root
 */
async function reachedFiles() {
  const modules = PROGRAMS.flatMap(filesBelow).filter((file) => file.endsWith('.js'));
  const { metafile } = await build({
    stdin: { contents: modules.map((file) => `require('./${file}');`).join('\n'), resolveDir: ROOT },
    absWorkingDir: ROOT,
    bundle: true,
    write: false,
    metafile: true,
    platform: 'node',
    mainFields: ['main'],
    conditions: ['node-addons', 'module-sync'],
    // modules that a bundle could leave out are loaded too
    ignoreAnnotations: true,
    treeShaking: false,
    logLevel: 'error',
    plugins: [missingPackages],
  });
  return new Set(Object.keys(metafile.inputs));
}

/**
 * Optional packages that are not installed: the code that requires them expects that.
 * @type {import('esbuild').Plugin}
 */
const missingPackages = {
  name: 'missing-packages',
  setup({ onResolve, resolve: resolvePackage }) {
    const pluginData = 'resolved here';
    onResolve({ filter: /^[^./#]/ }, async ({ path, importer, resolveDir, kind, pluginData: given }) => {
      if (given === pluginData) return undefined;
      const found = await resolvePackage(path, { importer, resolveDir, kind, pluginData });
      return found.errors.length > 0 ? { path, external: true } : found;
    });
  },
};

/** @param {string} file */
const isKept = (file) => LICENCE.test(file) || (CODE.test(file) ? isServed(file) : !/\/tests?\//.test(file));

/** The bundles for browsers, without those for other programs. @param {string} file */
const isServed = (file) => packageOf(file) === SERVED && file.endsWith('.js') && !file.includes('-es-');

/** @param {string} file */
const packageOf = (file) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0];

/**
 * The files of a package without those of packages nested in it.
 * @param {string} folder
 */
const ownFiles = (folder) => filesBelow(folder).filter((file) => packageOf(file) === folder);

/** The folders that `npm ci --omit=dev --omit=optional` creates. */
function productionPackages() {
  /** @type {{ packages: Record<string, { dev?: boolean, optional?: boolean, devOptional?: boolean }> }} */
  const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'));
  return Object.entries(packages)
    .filter(([path, { dev, optional, devOptional }]) => path && !dev && !optional && !devOptional)
    .map(([path]) => path)
    .filter((path) => existsSync(join(ROOT, path)));
}

/**
 * Removes the indentation, which is two thirds of the description of Google's messages. A file that is no strict JSON, such
 * as one with comments, stays as it is.
 * @param {string} file
 */
function compact(file) {
  const text = readFileSync(file, 'utf8');
  try {
    writeFileSync(file, JSON.stringify(JSON.parse(text)));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
}

/**
 * On the disk, as `du` counts.
 * @param {string[]} files
 */
const megabytes = (files) =>
  Math.round(files.reduce((sum, file) => sum + statSync(resolve(ROOT, file)).blocks * 512, 0) / 2 ** 20);

const [, , folder] = process.argv;
if (!folder) throw new Error('Usage: node tools/image.mjs <new folder>');
await assemble(resolve(folder));
