import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { readIfPresent } from './files.mjs';

/** What action.yml names, relative to the root. It is checked in: runners build nothing. */
const ACTION = join('apps', 'action', 'dist', 'action.js');

/**
 * Bundles the action into one file, which needs Node.js 24 and no packages. The same sources make the same text.
 * @param {string} root
 */
async function bundle(root) {
  const { outputFiles } = await build({
    entryPoints: ['apps/action/src/main.ts'],
    absWorkingDir: root,
    outfile: ACTION,
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
const file = join(root, ACTION);
const text = await bundle(root);
if (!process.argv.includes('--check')) {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
} else if (readIfPresent(file) !== text) {
  console.error(`${ACTION} is not what its sources say: npm run build:action`);
  process.exitCode = 1;
}
