import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

const hasProc = process.platform === 'linux';

/** Whether the process exists and is not a zombie, regardless of its owner. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
  return statusFields(pid)?.[0] !== 'Z';
}

/** Start time in the kernel's clock ticks; together with the pid it identifies a process. Empty if unknown. */
export function startTimeOf(pid: number): string {
  return statusFields(pid)?.[19] ?? '';
}

/** The command line of a process, joined by blanks; empty when it has exited or is hidden. */
export function commandLineOf(pid: number): string {
  try {
    if (hasProc) return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
    return execFileSync('ps', ['-o', 'args=', '-p', String(pid)], { encoding: 'utf8' }).trim();
  } catch {
    return '';
  }
}

/** Waits for the process to exit. @returns false when it still runs after `milliseconds` */
export async function hasEnded(pid: number, milliseconds: number): Promise<boolean> {
  const deadline = Date.now() + milliseconds;
  while (isRunning(pid)) {
    if (Date.now() > deadline) return false;
    await delay(20);
  }
  return true;
}

/** Sends a signal to a process, or with a negative id to its group. @returns false when it has already exited */
export function signal(pid: number, name: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, name);
  } catch (error) {
    if (codeOf(error) === 'ESRCH') return false;
    throw error;
  }
}

/** The system code of an error, such as `ENOENT`; empty for anything else. */
export function codeOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : '';
}

/** The fields of /proc/PID/stat from the state on; the program name before them may contain blanks and brackets. */
function statusFields(pid: number): string[] | undefined {
  if (!hasProc) return undefined;
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ESRCH') return undefined;
    throw error;
  }
}
