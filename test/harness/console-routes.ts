import { build } from 'esbuild';
import { Module } from 'node:module';
import { resolve } from 'node:path';

const ROOT = resolve(__dirname, '../..');

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
  const loaded = new Module('console-routes') as Module & {
    _compile: (code: string, name: string) => void;
    exports: { router: { routesByPath: Readonly<Record<string, object>> } };
  };
  loaded._compile(outputFiles[0]!.text, resolve(ROOT, 'console-routes.cjs'));
  return Object.keys(loaded.exports.router.routesByPath).toSorted();
}
