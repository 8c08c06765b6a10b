import { existsSync, mkdirSync, readdirSync, readFileSync, watch, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { filesBelow, ROOT } from './files.mjs';

const LAYERS = ['apps', 'libs'];

/** @param {string} path relative to the root. The console has a bundler of its own. */
const isSource = (path) =>
  /^(?:apps|libs)\/[^/]+\/src\/.*\.ts$/.test(path) &&
  !path.startsWith('apps/console/') &&
  !/\.(?:d|spec|testing)\.ts$/.test(path);

/** Paths of all sources of the product but the console, relative to the root. */
export const listSources = () =>
  LAYERS.flatMap((layer) => readdirSync(join(ROOT, layer)).map((name) => `${layer}/${name}/src`))
    .filter((folder) => existsSync(join(ROOT, folder)))
    .flatMap(filesBelow)
    .filter(isSource);

/** @param {string} source */
export const outputOf = (source) => `dist/${source.replace(/\.ts$/, '.js')}`;

/**
 * Writes what Node.js runs, with its source map, into dist. Types are not checked: that is part of `npm run lint`.
 * @param {string[]} sources relative to the root
 * @throws Error with the place of a syntax error
 */
export async function compile(sources) {
  // packages, which are installed before
  const { transformSync } = await import('@swc/core');
  const { swcOptions } = await import('./swc.cjs');
  for (const source of sources) {
    const output = join(ROOT, outputOf(source));
    mkdirSync(dirname(output), { recursive: true });
    const { code, map = '' } = transformSync(readFileSync(join(ROOT, source), 'utf8'), {
      ...swcOptions(join(ROOT, source), 'commonjs'),
      // what is imported when it is needed may be an ES module
      module: { type: 'commonjs', ignoreDynamic: true },
      // without the sources themselves, and the same wherever it is built
      sourceMaps: true,
      inlineSourcesContent: false,
      sourceFileName: relative(dirname(output), join(ROOT, source)).replaceAll('\\', '/'),
    });
    writeFileSync(`${output}.map`, map);
    writeFileSync(output, `${code}//# sourceMappingURL=${basename(output)}.map\n`);
  }
}

/** Compiles each source when it is saved, until this process ends. */
export function compileChanges() {
  for (const layer of LAYERS) {
    watch(join(ROOT, layer), { recursive: true }, (_, name) => {
      const source = `${layer}/${String(name).replaceAll('\\', '/')}`;
      if (!isSource(source) || !existsSync(join(ROOT, source))) return;
      compile([source]).catch(console.error);
    });
  }
}

// images build what a release runs, and nothing else
if (process.argv[1] === fileURLToPath(import.meta.url)) await compile(listSources());
