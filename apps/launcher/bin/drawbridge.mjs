#!/usr/bin/env node
/** Runs before packages are installed, so it and what it imports need only Node's own modules. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { compileChanges } from '../../../tools/compile.mjs';
import { codeOf, ROOT } from '../../../tools/files.mjs';
import { node24 } from '../../../tools/node-24.mjs';
import { runInForeground } from './foreground.mjs';
import { refuseTakenPorts } from './ports.mjs';
import { prepare } from './prepare.mjs';

/** @typedef {{ description: string, run: (args: string[]) => Promise<number> }} Command */

const MIN_NODE = { major: 20, minor: 19 };

/** Older versions of Node.js cannot load the framework's ES modules from CommonJS; documents name a supported one. */
function checkNode() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major > MIN_NODE.major || (major === MIN_NODE.major && minor >= MIN_NODE.minor)) return;
  throw new Error(
    `Drawbridge needs Node.js 22 or newer, and this is ${process.versions.node} (${process.execPath}).\n` +
      'Install one, for example from https://nodejs.org or with `nvm install 22`.',
  );
}

/** Programs without which suites are skipped: what is not tested then, and how they are installed. */
const PROGRAMS = [
  ['redis-server', 'the tests of the queue on Redis', 'apt-get install redis-server, brew install redis'],
  ['go', 'the tests of the Terraform provider', 'Go 1.26, https://go.dev/dl'],
];

function warnAboutPrograms() {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  const line = '!'.repeat(78);
  for (const [program, tests, install] of PROGRAMS) {
    if (folders.some((folder) => existsSync(join(folder, String(program))))) continue;
    console.warn(
      `${line}\n!! ${program} is not on the PATH: ${tests} will NOT run.\n` +
        `!! Install it (${install}) to run them all.\n${line}`,
    );
  }
}

/**
 * The Node.js that tests run on: 24 where this one is older and npm has it, unless TEST_NODE=own.
 * @returns {string}
 */
function nodeOfTests() {
  const [major = 0] = process.versions.node.split('.').map(Number);
  return (major < 22 && process.env['TEST_NODE'] !== 'own' && node24()) || process.execPath;
}

/** @param {string} projects of test/vitest.config.mts @param {string[]} args */
const vitest = (projects, args) => {
  warnAboutPrograms();
  // what one process compiles, the hundreds after it load: a fifth of the processor time of each start
  process.env['NODE_COMPILE_CACHE'] ??= join(ROOT, 'node_modules', '.cache', 'drawbridge-compiled');
  const config = ['--config', 'test/vitest.config.mts', '--project', projects];
  return runInForeground(['node_modules/vitest/vitest.mjs', 'run', ...config, ...args], nodeOfTests());
};

/**
 * Starts everything, compiles what changes, checks its types, and serves the console from its sources, in one terminal.
 * @param {string[]} args
 */
async function develop(args) {
  const { PORT = '3000' } = process.env;
  const env = { DRAWBRIDGE_URL: `http://localhost:${PORT}`, ...process.env };
  compileChanges();
  const watchers = [
    ['node_modules/typescript/bin/tsc', '--watch', '--preserveWatchOutput'],
    ['node_modules/vite/bin/vite.js', '--config', 'apps/console/vite.config.mjs', '--clearScreen', 'false'],
  ].map((command) =>
    spawn(process.execPath, command, { cwd: ROOT, env, stdio: ['ignore', 'inherit', 'inherit'] }),
  );
  try {
    return await runInForeground(['dist/apps/launcher/src/main.js', '--reload', ...args]);
  } finally {
    for (const watcher of watchers) watcher.kill();
  }
}

/** @type {Record<string, Command>} */
const commands = {
  start: {
    description: 'installs, builds and starts everything',
    run: (args) => runInForeground(['dist/apps/launcher/src/main.js', ...args]),
  },
  dev: {
    description: 'the same, reloading API, worker, clouds and console when a source changes',
    run: develop,
  },
  test: {
    description: 'installs, builds and runs the tests; further arguments go to vitest',
    run: (args) => vitest('!*-long', args),
  },
  'test-long': {
    description: 'the same with the tests that take minutes: faults, kills, many made-up histories',
    run: (args) => vitest('*-long', args),
  },
  bench: {
    description: 'installs, builds and measures',
    run: (args) => runInForeground(['test/bench/run.cjs', ...args]),
  },
  prepare: { description: 'installs and builds what is out of date', run: () => Promise.resolve(0) },
};

/**
 * What to say of an error: a checkout that cannot be written has a remedy.
 * @param {unknown} error
 */
function messageOf(error) {
  const code = codeOf(error);
  if (!['EACCES', 'EPERM', 'EROFS'].includes(code)) return error instanceof Error ? error.message : error;
  return `The folder ${ROOT} cannot be written (${code}): Drawbridge installs its packages and builds into it.\nMake it writable for this user, or copy it to a folder that is.`;
}

/** @returns {Promise<number>} the exit code */
async function main() {
  const [name = '', ...args] = process.argv.slice(2);
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (!command) {
    const list = Object.entries(commands).map(
      ([known, { description }]) => `  ${known.padEnd(10)} ${description}`,
    );
    throw new Error(`Usage: node apps/launcher/bin/drawbridge.mjs <command>\n${list.join('\n')}`);
  }
  checkNode();
  // later the launcher does, which knows whether it is Drawbridge that runs there
  if (name === 'start' && !existsSync(join(ROOT, 'node_modules'))) await refuseTakenPorts();
  await prepare();
  return command.run(args);
}

try {
  process.exitCode = await main();
} catch (error) {
  console.error(messageOf(error));
  process.exitCode = 1;
}
