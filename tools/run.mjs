import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import { ROOT } from './files.mjs';

/**
 * Runs a program and shows its output only when it fails.
 * @param {string} program
 * @param {string[]} args
 * @param {{ cwd?: string, shell?: boolean }} [options] in the checkout, without a shell
 * @returns {Promise<void>}
 * @throws Error with its output
 */
export async function run(program, args, options = {}) {
  const child = spawn(program, args, { cwd: ROOT, ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  /** @type {Buffer[]} */
  const chunks = [];
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (/** @type {Buffer} */ chunk) => chunks.push(chunk));
  }
  // a terminal's Ctrl-C reaches the child directly; SIGTERM only this process
  const end = () => {
    child.kill('SIGTERM');
    process.exit(143);
  };
  process.once('SIGTERM', end);
  const outcome = await new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve(code ?? signal));
  }).finally(() => process.off('SIGTERM', end));
  if (outcome === 0) return;
  const output = Buffer.concat(chunks).toString('utf8').trimEnd();
  throw new Error(`${output}\n\n${[program, ...args].join(' ')} failed (${outcome}): see its output above.`);
}

/**
 * Runs the npm that runs this program, else the one on the PATH, which Windows can only start through a shell.
 * @param {...string} args
 */
export function npm(...args) {
  const running = process.env['npm_execpath'] ?? '';
  return basename(running) === 'npm-cli.js' && existsSync(running)
    ? run(process.execPath, [running, ...args])
    : run('npm', args, { shell: process.platform === 'win32' });
}
