import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './files.mjs';
import { npm, run } from './run.mjs';

const ENTRY = 'libs/client/src/index';

/** The packages that it loads. */
const PACKAGES = ['ipaddr.js', 'openapi-fetch'];

/** Types that are not compiled. */
const TYPES = 'libs/client/src/schema.d.ts';

/**
 * Compiles the client with its types into a package of its own, as `npm install` takes it.
 * @param {string} folder for the package
 * @param {string} work
 */
export async function packClient(folder, work) {
  const outDir = join(work, 'client');
  mkdirSync(outDir);
  const project = join(work, 'client.json');
  const compilerOptions = { outDir, rootDir: ROOT, declaration: true, sourceMap: false, incremental: false };
  const config = {
    extends: join(ROOT, 'tsconfig.build.json'),
    compilerOptions,
    include: [join(ROOT, `${ENTRY}.ts`)],
  };
  writeFileSync(project, JSON.stringify(config));
  await run(process.execPath, ['node_modules/typescript/bin/tsc', '-p', project]);
  for (const file of [TYPES, 'LICENSE']) copyFileSync(join(ROOT, file), join(outDir, file));
  writeFileSync(join(outDir, 'package.json'), JSON.stringify(manifest(), null, 2));
  await npm('pack', '--silent', outDir, '--pack-destination', folder);
}

function manifest() {
  const { version, license, engines, dependencies, devDependencies } = JSON.parse(
    readFileSync(join(ROOT, 'package.json'), 'utf8'),
  );
  const versions = { ...devDependencies, ...dependencies };
  return {
    name: 'drawbridge-client',
    version,
    description: "Drawbridge's API, typed, with sessions that are kept alive.",
    license,
    engines,
    type: 'commonjs',
    exports: `./${ENTRY}.js`,
    imports: { '#*': './libs/*/src/index.js' },
    dependencies: Object.fromEntries(PACKAGES.map((name) => [name, versions[name]])),
  };
}
