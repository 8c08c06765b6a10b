/** Builds the agent's executables and packages into `dist/downloads`, for all architectures or those that are named. */
import { mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { writeDeb } from './agent-deb.mjs';
import { ARCHITECTURES, fetchRuntime, prepareProgram, writeExecutable } from './agent-executable.mjs';
import { bundleDownloads } from './bundle.mjs';
import { DOWNLOADS, writeChecksums } from './downloads.mjs';
import { ROOT } from './files.mjs';
import { run } from './run.mjs';

/** Programs this build runs, and the Debian packages that contain them. */
const TOOLS = { 'dpkg-deb': 'dpkg', xz: 'xz-utils', tar: 'tar', 'eu-strip': 'elfutils' };

/**
 * @param {string} name as Node.js and the command line have it
 * @throws Error when nothing is built for it
 */
function architectureOf(name) {
  const known = ARCHITECTURES.find((each) => each === name);
  if (known) return known;
  throw new Error(`The architectures are ${ARCHITECTURES.join(' and ')}, not ${name}.`);
}

/** @throws Error that says what to install */
async function checkTools() {
  if (process.platform !== 'linux')
    throw new Error(`This is ${process.platform}: packages are built on Linux.`);
  /** @type {string[]} */
  const missing = [];
  for (const [program, debianPackage] of Object.entries(TOOLS)) {
    await run(program, ['--version']).catch(() => missing.push(debianPackage));
  }
  if (missing.length > 0) throw new Error(`These are missing: apt-get install ${missing.join(' ')}`);
}

/**
 * @param {string} work a folder for what is not published
 * @param {readonly import('./agent-executable.mjs').Architecture[]} architectures
 */
async function buildPackages(work, architectures) {
  await bundleDownloads();
  const machine = architectureOf(process.arch);
  const own = await fetchRuntime(machine, work);
  const program = await prepareProgram(own, work);
  const files = architectures.map(async (architecture) => {
    const runtime = architecture === machine ? own : await fetchRuntime(architecture, work);
    const executable = join(work, `drawbridge-agent-linux-${architecture}`);
    await writeExecutable(runtime, program, executable);
    if (architecture === machine) await run(executable, ['--version']);
    // compressing takes nearly all the time
    const [deb] = await Promise.all([
      writeDeb({ architecture, executable, license: runtime.license }, work),
      run('xz', ['--keep', executable]),
    ]);
    return [deb, `${executable}.xz`];
  });
  for (const file of (await Promise.all(files)).flat())
    renameSync(file, join(ROOT, DOWNLOADS, basename(file)));
  writeChecksums();
  console.log(`Built: ${DOWNLOADS}`);
}

try {
  const given = process.argv.slice(2).map(architectureOf);
  await checkTools();
  // beside the results, so that these can be renamed to their place
  mkdirSync(join(ROOT, 'dist'), { recursive: true });
  const work = mkdtempSync(join(ROOT, 'dist/.agent-packages-'));
  try {
    await buildPackages(work, given.length > 0 ? given : ARCHITECTURES);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
