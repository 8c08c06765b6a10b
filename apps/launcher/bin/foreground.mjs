import { spawn } from 'node:child_process';
import { constants } from 'node:os';

/**
 * Runs a Node.js script in the terminal's foreground and lets it decide what a signal means.
 * Ctrl-C reaches the whole process group by itself, so SIGINT is passed on only where no terminal is attached.
 * @returns the child's exit code, 128 + n when signal n ended it
 */
export function runInForeground(root, args) {
  // The channel lets the child notice that this process was killed.
  const child = spawn(process.execPath, args, { cwd: root, stdio: ['inherit', 'inherit', 'inherit', 'ipc'] });
  const hasTerminal = [process.stdin, process.stdout, process.stderr].some((stream) => stream.isTTY);
  process.on('SIGINT', () => hasTerminal || child.kill('SIGINT'));
  process.on('SIGHUP', () => hasTerminal || child.kill('SIGHUP'));
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => resolve(code ?? 128 + (constants.signals[signal] ?? 0)));
  });
}
