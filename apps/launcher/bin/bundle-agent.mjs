import { chmodSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { AGENT } from './downloads.mjs';

/** Runs before anything else, in syntax that every Node.js reads: an old one would fail in the middle, unguarded. */
const VERSION_CHECK = `if (Number(process.version.slice(1).split('.')[0]) < 20) {
  process.stderr.write('drawbridge-agent needs Node.js 20.19 or newer, and this is ' + process.version + '\\n');
  process.exit(1);
}`;

/**
 * Bundles the agent into one file, which needs Node.js and nft but no packages.
 * @param {string} root
 * @param {string} outfile
 */
export async function bundleAgent(root, outfile) {
  const { version } = /** @type {(text: string) => { version: string }} */ (JSON.parse)(
    readFileSync(join(root, 'package.json'), 'utf8'),
  );
  await build({
    entryPoints: [join(root, 'apps/agent/src/main.ts')],
    outfile,
    tsconfig: join(root, 'tsconfig.json'),
    bundle: true,
    platform: 'node',
    target: 'node20.19',
    format: 'cjs',
    conditions: ['@drawbridge/source'],
    banner: { js: `#!/usr/bin/env node\n${VERSION_CHECK}` },
    define: { DRAWBRIDGE_RELEASE: JSON.stringify(version) },
    legalComments: 'eof',
    logLevel: 'silent',
  });
  chmodSync(outfile, 0o755);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = resolve(dirname(fileURLToPath(import.meta.url)), '../../..');
  await bundleAgent(root, process.argv[2] ?? join(root, AGENT));
}
