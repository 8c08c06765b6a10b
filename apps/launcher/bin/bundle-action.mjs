import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { readIfPresent } from './files.mjs';

/** What action.yml names, relative to the root. It is checked in: runners build nothing. */
const FOLDER = join('apps', 'action', 'dist');

/** The programs of the two steps: a step has no arguments, and only its file says which one it is. */
const STEPS = {
  'main.js': `require('./action.js').main();\n`,
  'post.js': `require('./action.js').post();\n`,
};

/**
 * Bundles a program into one file, which needs Node.js 24 and no packages. The same sources make the same text.
 * @param {string} root
 * @param {string} source its name in apps/action/src
 */
async function bundle(root, source) {
  const { outputFiles } = await build({
    entryPoints: [`apps/action/src/${source}`],
    absWorkingDir: root,
    // paths of packages are in the text
    preserveSymlinks: true,
    tsconfig: 'tsconfig.json',
    bundle: true,
    write: false,
    platform: 'node',
    target: 'node24',
    format: 'cjs',
    minifySyntax: true,
    minifyWhitespace: true,
    conditions: ['@drawbridge/source'],
    legalComments: 'eof',
    logLevel: 'silent',
  });
  return /** @type {import('esbuild').OutputFile} */ (outputFiles[0]).text;
}

const root = resolve(dirname(fileURLToPath(import.meta.url)), '../../..');
const [action, renewer] = await Promise.all(['main.ts', 'renewer.ts'].map((source) => bundle(root, source)));
const files = Object.entries({ ...STEPS, 'action.js': action ?? '', 'renewer.js': renewer ?? '' });
mkdirSync(join(root, FOLDER), { recursive: true });
for (const [name, text] of files) {
  const file = join(root, FOLDER, name);
  if (!process.argv.includes('--check')) {
    writeFileSync(file, text);
  } else if (readIfPresent(file) !== text) {
    console.error(`${join(FOLDER, name)} is not what its sources say: npm run build:action`);
    process.exitCode = 1;
  }
}
