import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { writeClientTypes } from './client-types.mjs';
import { AGENT, CLI, publish } from './downloads.mjs';
import { readVersion, ROOT } from './files.mjs';

/**
 * How a program for machines of others becomes one file, which needs Node.js and no packages.
 * @satisfies {import('esbuild').BuildOptions}
 */
export const ONE_FILE = {
  absWorkingDir: ROOT,
  tsconfig: 'tsconfig.json',
  bundle: true,
  platform: 'node',
  conditions: ['@drawbridge/source'],
  legalComments: 'eof',
  logLevel: 'silent',
};

/** Runs before anything else, in syntax that every Node.js reads: an old one would fail in the middle, unguarded. */
const AGENT_BANNER = `#!/usr/bin/env node
if (Number(process.version.slice(1).split('.')[0]) < 20) {
  process.stderr.write('drawbridge-agent needs Node.js 22 or newer, and this is ' + process.version + '\\n');
  process.exit(1);
}`;

/** Runs first. Packages in the bundle are CommonJS in part, and require Node's modules. */
const CLI_BANNER = `#!/usr/bin/env node
import { createRequire as drawbridgeRequire } from 'node:module';
const require = drawbridgeRequire(import.meta.url);
const drawbridgeNode = process.versions.node.split('.').map(Number);
if (drawbridgeNode[0] < 20 || (drawbridgeNode[0] === 20 && drawbridgeNode[1] < 19)) {
  process.stderr.write('drawbridge needs Node.js 22 or newer, and this is ' + process.version + '\\n');
  process.exit(2);
}`;

/**
 * @param {string} source
 * @param {string} outfile
 * @param {import('esbuild').BuildOptions} options
 */
async function bundleProgram(source, outfile, options) {
  await build({
    ...ONE_FILE,
    target: 'node20.19',
    define: { DRAWBRIDGE_RELEASE: JSON.stringify(readVersion()) },
    entryPoints: [source],
    outfile,
    ...options,
  });
  chmodSync(join(ROOT, outfile), 0o755);
}

const bundleAgent = () =>
  bundleProgram('apps/agent/src/main.ts', AGENT, { format: 'cjs', banner: { js: AGENT_BANNER } });

const bundleCli = () =>
  bundleProgram('apps/cli/src/main.ts', CLI, {
    format: 'esm',
    // what is read and not run costs at each start
    minifySyntax: true,
    minifyWhitespace: true,
    banner: { js: CLI_BANNER },
  });

/** Makes what the API offers under /downloads, except for packages, which take minutes. */
export async function bundleDownloads() {
  await writeClientTypes();
  await Promise.all([bundleAgent(), bundleCli()]);
  publish();
}

// the image of the agent needs nothing else
if (process.argv[1] === fileURLToPath(import.meta.url)) await bundleAgent();
