import { chmodSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { CLI } from './downloads.mjs';

/**
 * Runs first. Packages in the bundle are CommonJS in part, and require Node's modules.
 */
const BANNER = `#!/usr/bin/env node
import { createRequire as drawbridgeRequire } from 'node:module';
const require = drawbridgeRequire(import.meta.url);
const drawbridgeNode = process.versions.node.split('.').map(Number);
if (drawbridgeNode[0] < 20 || (drawbridgeNode[0] === 20 && drawbridgeNode[1] < 19)) {
  process.stderr.write('drawbridge needs Node.js 20.19 or newer, and this is ' + process.version + '\\n');
  process.exit(2);
}`;

/**
 * Bundles the command line into one file, which needs Node.js and no packages.
 * @param {string} root
 */
export async function bundleCli(root) {
  const outfile = join(root, CLI);
  const { version } = /** @type {(text: string) => { version: string }} */ (JSON.parse)(
    readFileSync(join(root, 'package.json'), 'utf8'),
  );
  await build({
    entryPoints: [join(root, 'apps/cli/src/main.ts')],
    outfile,
    tsconfig: join(root, 'tsconfig.json'),
    bundle: true,
    platform: 'node',
    target: 'node20.19',
    format: 'esm',
    // what is read and not run costs at each start
    minifySyntax: true,
    minifyWhitespace: true,
    conditions: ['@drawbridge/source'],
    banner: { js: BANNER },
    define: { DRAWBRIDGE_RELEASE: JSON.stringify(version) },
    legalComments: 'eof',
    logLevel: 'silent',
  });
  chmodSync(outfile, 0o755);
}
