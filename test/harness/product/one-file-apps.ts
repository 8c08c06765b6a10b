import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { build, type BuildOptions, type Plugin } from 'esbuild';

const ROOT = resolve(__dirname, '../../..');
const APPS = ['api', 'worker', 'simulator'];

/** They read files of their own, are loaded when they are needed only, or twice otherwise, by a name that is made up. */
const SEPARATE = [
  'bcrypt',
  'swagger-ui-dist',
  'class-transformer',
  'class-validator',
  '@aws-sdk/*',
  '@azure/*',
  '@google-cloud/*',
];

/** Packages that are optional and not installed: the code that requires them expects that. */
const missingPackages: Plugin = {
  name: 'missing-packages',
  setup(bundle) {
    bundle.onResolve({ filter: /^@?[a-z]/ }, ({ path }) => {
      const [, name] = /^((?:@[^/]+\/)?[^/]+)/.exec(path)!;
      return existsSync(join(ROOT, 'node_modules', name!)) ? undefined : { path, external: true };
    });
  },
};

/** Beside the packages that stay apart. */
const FOLDER = 'node_modules/.cache/drawbridge-apps';
/** Not `.js`: below node_modules Node.js would parse all of it to learn which kind of module it is. */
const fileIn = (folder: string, app: string): string => `${folder}/${app}.cjs`;

/** 300 modules, in one file of a package that programs find before the real one. */
const VALIDATOR = 'class-validator';
const VALIDATOR_FOLDER = `node_modules/${VALIDATOR}`;
/** Names are kept, which programs show. */
const JOINED: BuildOptions = {
  absWorkingDir: ROOT,
  bundle: true,
  platform: 'node',
  minifyWhitespace: true,
  legalComments: 'none',
  logLevel: 'error',
};

/** What they were joined from: the build, the packages, and the way. */
function stampOfSources(): string {
  const hash = createHash('sha256');
  for (const file of [join(ROOT, 'dist/.build-stamp'), join(ROOT, 'package-lock.json'), __filename])
    hash.update(readFileSync(file));
  return hash.digest('hex');
}

/**
 * Joins each program of the product with its packages in one file: 2,300 modules cost a second of a processor at each of the
 * hundreds of starts, one costs a third of that. What it does is the same. Nothing is done when none of it has changed.
 */
export async function joinApps(): Promise<void> {
  process.env['TEST_ONE_FILE'] = 'true';
  const stamp = stampOfSources();
  const stampFile = join(ROOT, FOLDER, 'stamp');
  if (existsSync(stampFile) && readFileSync(stampFile, 'utf8') === stamp) return;
  // another run may join them, or start one: each file is put in place whole
  const made = join(ROOT, `${FOLDER}-${process.pid}`);
  const joined = APPS.map((app) =>
    build({
      ...JOINED,
      entryPoints: [`dist/apps/${app}/src/main.js`],
      outfile: fileIn(made, app),
      external: SEPARATE,
      plugins: [missingPackages],
      define: {
        // files that look for others from where they are, are in a folder of the program
        __dirname: JSON.stringify(join(ROOT, `dist/apps/${app}/src/main`)),
        'import.meta.url': 'urlOfThis',
      },
      banner: { js: "const urlOfThis = require('node:url').pathToFileURL(__filename).href;" },
    }),
  );
  const validator = build({
    ...JOINED,
    stdin: { contents: `export * from '${VALIDATOR}'`, resolveDir: ROOT },
    outfile: fileIn(join(made, VALIDATOR_FOLDER), 'index'),
    // only of modules Node.js sees the names that `import()` has
    mainFields: ['es2015', 'module', 'main'],
    keepNames: true,
  });
  await Promise.all([...joined, validator]);
  writeFileSync(join(made, VALIDATOR_FOLDER, 'package.json'), '{ "main": "index.cjs" }');
  mkdirSync(join(ROOT, FOLDER, VALIDATOR_FOLDER), { recursive: true });
  const files = [
    ...APPS.map((app) => fileIn('.', app)),
    ...['index.cjs', 'package.json'].map((file) => `${VALIDATOR_FOLDER}/${file}`),
  ];
  for (const file of files) renameSync(join(made, file), join(ROOT, FOLDER, file));
  rmSync(made, { recursive: true });
  writeFileSync(stampFile, stamp);
}

/** @param env of the process: what looks at its modules needs them apart @returns the file to start, below the root */
export const startedFile = (app: string, env: Readonly<Record<string, string>>): string =>
  process.env['TEST_ONE_FILE'] === 'true' && APPS.includes(app) && !env['NODE_OPTIONS']
    ? fileIn(FOLDER, app)
    : `dist/apps/${app}/src/main.js`;
