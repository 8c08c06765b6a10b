import { spawn } from 'node:child_process';

/**
 * Runs a program without showing what it prints.
 * @param {string} program
 * @param {string[]} args
 * @param {{ cwd: string, shell?: boolean }} options
 * @returns {Promise<{ code: number, output: string }>} its exit code (1 when a signal ended it) and both its streams
 */
export function runQuietly(program, args, options) {
  const child = spawn(program, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  /** @type {Buffer[]} */
  const chunks = [];
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (/** @type {Buffer} */ chunk) => chunks.push(chunk));
  }
  // A terminal's Ctrl-C reaches the child by itself; kill reaches this process alone.
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
