import { build } from 'esbuild';
import { resolve } from 'node:path';
import { compileFunction } from 'node:vm';

const ROOT = resolve(__dirname, '../../..');

interface Loaded {
  readonly exports: { readonly router?: { readonly routesByPath: Readonly<Record<string, object>> } };
}

/** The paths of all screens, as the console's own router knows them: `/resources/$id`. */
export async function consoleRoutes(): Promise<string[]> {
  const { outputFiles } = await build({
    entryPoints: [resolve(ROOT, 'apps/console/src/router.ts')],
    bundle: true,
    write: false,
    format: 'cjs',
    platform: 'node',
    loader: { '.module.css': 'empty', '.css': 'empty' },
    jsx: 'automatic',
    logLevel: 'error',
  });
  const module: Loaded = { exports: {} };
  compileFunction(outputFiles[0]!.text, ['module', 'require'])(module, require);
  const { router } = module.exports;
  if (router === undefined) throw new Error('The router of the console is not exported');
  return Object.keys(router.routesByPath).toSorted();
}
