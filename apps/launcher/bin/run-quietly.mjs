import { spawn } from 'node:child_process';

/**
 * Runs a program and captures its output.
 * @param {string} program
 * @param {string[]} args
 * @param {{ cwd: string, shell?: boolean }} options
 * @returns {Promise<{ code: number, output: string }>} exit code (1 after a signal), stdout and stderr
 */
export function runQuietly(program, args, options) {
  const child = spawn(program, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
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
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => {
      process.off('SIGTERM', end);
      resolve({ code: code ?? 1, output: Buffer.concat(chunks).toString('utf8') });
    });
  });
}
