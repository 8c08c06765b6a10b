import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { ROOT } from '../../../tools/files.mjs';

const POLL_INTERVAL_MS = 500;

/**
 * npm's shell exits on SIGTERM without forwarding it, so the child is stopped when the parent process changes.
 * @param {import('node:child_process').ChildProcess} child
 */
function stopWithoutParent(child) {
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    child.kill('SIGTERM');
  }, POLL_INTERVAL_MS);
  timer.unref();
}

/**
 * Runs a Node.js script in the terminal's foreground and lets it handle signals.
 * Ctrl-C reaches the whole process group, so it is forwarded only when no terminal is attached.
 * @param {string[]} command a script and its arguments
 * @param {string} [program] this Node.js when left out
 * @returns {Promise<number>} the child's exit code, 128 + n when signal n ended it
 */
export function runInForeground(command, program = process.execPath) {
  // the IPC channel closes when this process is killed, so that the child notices
  const child = spawn(program, command, {
    cwd: ROOT,
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  });
  const hasTerminal = [process.stdin, process.stdout, process.stderr].some((stream) => stream.isTTY);
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  stopWithoutParent(child);
  for (const name of /** @type {const} */ (['SIGINT', 'SIGHUP'])) {
    process.on(name, () => {
      if (!hasTerminal) child.kill(name);
    });
  }
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => resolve(code ?? 128 + (signal ? constants.signals[signal] : 0)));
  });
}
