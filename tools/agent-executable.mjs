import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
// @ts-expect-error -- it has no types
import postject from 'postject';
import { AGENT } from './downloads.mjs';
import { ROOT } from './files.mjs';
import { npm, run } from './run.mjs';

/** The Node.js inside the executables. Its packages on npm hold the binaries of nodejs.org. */
const NODE_VERSION = '20.20.2';

/** @typedef {'x64' | 'arm64'} Architecture as Node.js names it */

/** @type {Readonly<Record<Architecture, string>>} */
const INTEGRITY = {
  x64: 'sha512-PeHQM8wAdmHtZA1mBocygZxs5LiUWtsJezQTkBd0iY987KpGrD1O2tVEydvMZiuXceRanxt7rjTnDEBwOPujoQ==',
  arm64: 'sha512-LCXJnNTFiyGuYBw2gZSI5OBFMbkjAPt8sqD/NKrWoE2QmDgSubTqFng6GaNJ9EJ8HpxBMGcWWpbbcs4Vo+CnGg==',
};

/** @type {readonly Architecture[]} */
export const ARCHITECTURES = ['x64', 'arm64'];

/** Node.js looks for the program in an ELF note of this name, when the fuse says that there is one. */
const RESOURCE = 'NODE_SEA_BLOB';
const FUSE = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2';

/**
 * @typedef {object} Runtime
 * @property {string} node the binary
 * @property {string} license the file with the licenses of Node.js and of what it contains
 */

/**
 * Downloads Node.js for an architecture.
 * @param {Architecture} architecture
 * @param {string} folder
 * @returns {Promise<Runtime>}
 */
export async function fetchRuntime(architecture, folder) {
  const own = join(folder, architecture);
  mkdirSync(own, { recursive: true });
  const name = `node-linux-${architecture}`;
  // npm's cache is used, so that a second build downloads nothing
  await npm('pack', '--silent', `${name}@${NODE_VERSION}`, '--pack-destination', own);
  const archive = join(own, `${name}-${NODE_VERSION}.tgz`);
  const integrity = `sha512-${createHash('sha512').update(readFileSync(archive)).digest('base64')}`;
  if (integrity !== INTEGRITY[architecture]) {
    throw new Error(
      `${name}@${NODE_VERSION} from the npm registry is not the one this build expects: ${integrity}`,
    );
  }
  await run('tar', ['-xzf', archive, '-C', own, '--strip-components=1']);
  return { node: join(own, 'bin', 'node'), license: join(own, 'LICENSE') };
}

/**
 * Prepares the program for Node.js of NODE_VERSION: other versions may write another format.
 * @param {Runtime} runtime of this machine
 * @param {string} folder
 * @returns {Promise<string>} the file to inject
 */
export async function prepareProgram(runtime, folder) {
  const output = join(folder, 'program.blob');
  const config = join(folder, 'program.json');
  const main = join(ROOT, AGENT);
  writeFileSync(config, JSON.stringify({ main, output, disableExperimentalSEAWarning: true }));
  await run(runtime.node, ['--experimental-sea-config', config]);
  return output;
}

/** @type {{ inject: (file: string, name: string, data: Buffer, options: { sentinelFuse: string }) => Promise<void> }} */
const { inject } = postject;

/**
 * Writes Node.js with the program in it.
 * @param {Runtime} runtime
 * @param {string} program
 * @param {string} outfile
 */
export async function writeExecutable(runtime, program, outfile) {
  const stripped = `${outfile}.stripped`;
  // only symbols for debuggers; strip of binutils knows only the machine's own architecture
  await run('eu-strip', ['-o', stripped, runtime.node]);
  await inject(stripped, RESOURCE, readFileSync(program), { sentinelFuse: FUSE });
  chmodSync(stripped, 0o755);
  renameSync(stripped, outfile);
}
