import { cpSync, existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

/** @typedef {{ installedMb: number, imageMb: number }} Sizes */

const PROGRAMS = ['dist/apps/api', 'dist/apps/worker'];
const COPIED = [...PROGRAMS, 'dist/libs', 'dist/downloads', 'package.json'];

/** For programs outside of the image; the command line among the downloads contains it. */
const LEFT_OUT = join('dist', 'libs', 'client');

/** Its scripts are loaded by browsers, and by a framework in a way that cannot be traced. */
const SERVED = 'node_modules/swagger-ui-dist';

/** Code, and what only compilers and readers of code load. Other files, such as style sheets, belong to code unseen. */
const CODE = /\.([cm]?[jt]sx?|map|md|flow|tsbuildinfo|proto)$/i;
const LICENCE = /(^|\/)(licen[cs]e|notice|copying)[^/]*$/i;

/**
 * Copies the programs of the image and the part of their packages that they can load into a folder: code that no
 * program reaches, such as builds for browsers, types and source maps, is left out.
 * @param {string} root with packages and build
 * @param {string} folder
 * @returns {Promise<Sizes>} of all production packages, and of what was copied of them
 */
export async function assembleImage(root, folder) {
  const reached = await reachedFiles(root);
  const files = [...new Set([SERVED, ...[...reached].flatMap((file) => packageOf(file) ?? [])])]
    .flatMap((folderOfPackage) => ownFiles(root, folderOfPackage))
    .filter((file) => reached.has(file) || isKept(file));
  for (const path of [...COPIED, ...files].filter((each) => existsSync(join(root, each)))) {
    cpSync(join(root, path), join(folder, path), {
      recursive: true,
      filter: (source) => relative(root, source) !== LEFT_OUT,
    });
  }
  const installed = productionPackages(root).flatMap((each) => ownFiles(root, each));
  return { installedMb: megabytes(root, installed), imageMb: megabytes(root, files) };
}

/**
 * The files that the programs load, resolved as Node.js does.
 * @param {string} root
 * @returns {Promise<Set<string>>} paths relative to the root
 */
async function reachedFiles(root) {
  const modules = PROGRAMS.flatMap((program) => filesBelow(root, program)).filter((file) =>
    file.endsWith('.js'),
  );
  const { metafile } = await build({
    stdin: { contents: modules.map((file) => `require('./${file}');`).join('\n'), resolveDir: root },
    absWorkingDir: root,
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
const isKept = (file) =>
  !CODE.test(file) || LICENCE.test(file) || (packageOf(file) === SERVED && file.endsWith('.js'));

/** @param {string} file */
const packageOf = (file) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0];

/**
 * The files of a package without those of packages nested in it.
 * @param {string} root
 * @param {string} folder
 */
const ownFiles = (root, folder) => filesBelow(root, folder).filter((file) => packageOf(file) === folder);

/**
 * @param {string} root
 * @param {string} folder relative to the root, as are the paths returned
 */
const filesBelow = (root, folder) =>
  readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).replaceAll('\\', '/'));

/**
 * The folders that `npm ci --omit=dev --omit=optional` creates.
 * @param {string} root
 */
function productionPackages(root) {
  /** @type {{ packages: Record<string, { dev?: boolean, optional?: boolean, devOptional?: boolean }> }} */
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  return Object.entries(packages)
    .filter(([path, { dev, optional, devOptional }]) => path && !dev && !optional && !devOptional)
    .map(([path]) => path)
    .filter((path) => existsSync(join(root, path)));
}

/**
 * On the disk, as `du` counts.
 * @param {string} root
 * @param {string[]} files
 */
const megabytes = (root, files) =>
  files.reduce((sum, file) => sum + statSync(join(root, file)).blocks * 512, 0) / 2 ** 20;

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const folder = process.argv[2];
  if (!folder) throw new Error('Usage: node apps/launcher/bin/assemble-image.mjs <new folder>');
  const root = resolve(fileURLToPath(import.meta.url), '../../../..');
  const { installedMb, imageMb } = await assembleImage(root, resolve(folder));
  console.log(JSON.stringify({ installedMb: Math.round(installedMb), imageMb: Math.round(imageMb) }));
}
