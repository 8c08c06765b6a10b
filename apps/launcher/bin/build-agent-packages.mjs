import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { writeDeb } from './agent-deb.mjs';
import { ARCHITECTURES, fetchRuntime, prepareProgram, run, writeExecutable } from './agent-executable.mjs';
import { bundleDownloads } from './bundle-downloads.mjs';
import { AGENT, DOWNLOADS, writeChecksums } from './downloads.mjs';

/** @typedef {import('./agent-executable.mjs').Architecture} Architecture */

/** Programs this build runs, and the Debian packages that contain them. */
const TOOLS = { 'dpkg-deb': 'dpkg', xz: 'xz-utils', tar: 'tar', 'eu-strip': 'elfutils' };

/** @throws Error that says what to install */
async function checkMachine() {
  if (process.platform !== 'linux' || !ARCHITECTURES.some((known) => known === process.arch)) {
    throw new Error(
      `The packages are built on Linux on x64 or arm64, and this is ${process.platform} on ${process.arch}.`,
    );
  }
  /** @type {string[]} */
  const missing = [];
  for (const [program, debianPackage] of Object.entries(TOOLS)) {
    await run(program, ['--version'], '.').catch(() => missing.push(debianPackage));
  }
  if (missing.length > 0) throw new Error(`These are missing: apt-get install ${missing.join(' ')}`);
}

/**
 * The architectures to build for: those named on the command line, else all.
 * @param {readonly string[]} names
 */
function chosen(names) {
  const unknown = names.filter((name) => !ARCHITECTURES.some((known) => known === name));
  if (unknown.length > 0)
    throw new Error(`The architectures are ${ARCHITECTURES.join(' and ')}, not ${unknown.join(', ')}.`);
  return ARCHITECTURES.filter((known) => names.length === 0 || names.includes(known));
}

/**
 * Builds the agent's executables and packages into `dist/downloads`.
 * @param {string} root
 * @param {string} work a folder for what is not published
 * @param {readonly Architecture[]} architectures
 */
async function build(root, work, architectures) {
  const { version } = /** @type {(text: string) => { version: string }} */ (JSON.parse)(
    readFileSync(join(root, 'package.json'), 'utf8'),
  );
  const out = join(root, DOWNLOADS);
  await bundleDownloads(root);
  const own = await fetchRuntime(/** @type {Architecture} */ (process.arch), work);
  const program = await prepareProgram(join(root, AGENT), own, work);
  const files = architectures.map(async (architecture) => {
    const runtime = architecture === process.arch ? own : await fetchRuntime(architecture, work);
    const executable = join(work, `drawbridge-agent-linux-${architecture}`);
    await writeExecutable(runtime, program, executable);
    if (architecture === process.arch) await run(executable, ['--version'], work);
    // compressing takes nearly all the time
    const [deb] = await Promise.all([
      writeDeb(root, { architecture, executable, license: runtime.license, version }, work),
      run('xz', ['--keep', executable], work),
    ]);
    return [deb, `${executable}.xz`];
  });
  for (const file of (await Promise.all(files)).flat()) renameSync(file, join(out, basename(file)));
  writeChecksums(root);
  console.log(`Built: ${DOWNLOADS}`);
}

const root = resolve(dirname(fileURLToPath(import.meta.url)), '../../..');
try {
  const architectures = chosen(process.argv.slice(2));
  await checkMachine();
  mkdirSync(join(root, 'dist'), { recursive: true });
  // beside the results, so that these can be renamed to their place
  const work = mkdtempSync(join(root, 'dist', '.agent-packages-'));
  try {
    await build(root, work, architectures);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
