import { spawn } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { monotonicMs } from './clock';

const PAUSE_MS = 3000;
export const READY_SECONDS = 300;

/** The command has not succeeded in time. */
export class NotReady extends Error {
  constructor(command: string, seconds: number) {
    super(`"${command}" has not succeeded within ${seconds} s`);
    this.name = 'NotReady';
  }
}

/**
 * Runs a command of the shell every three seconds until it succeeds: some providers act minutes after a rule is written, and only
 * the caller can see that. Its output goes to standard error.
 * @throws NotReady @throws the signal's reason
 */
export async function untilReady(command: string, seconds: number, signal: AbortSignal): Promise<void> {
  const endsAt = monotonicMs() + seconds * 1000;
  for (;;) {
    signal.throwIfAborted();
    if (await succeeds(command, Math.max(1, endsAt - monotonicMs()), signal)) return;
    signal.throwIfAborted();
    if (monotonicMs() + PAUSE_MS >= endsAt) throw new NotReady(command, seconds);
    await pause(PAUSE_MS, undefined, { signal }).catch(() => undefined);
  }
}

/** @param timeoutMs after which it is ended */
function succeeds(command: string, timeoutMs: number, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn(command, { shell: true, stdio: ['ignore', 2, 2], timeout: timeoutMs, signal });
    child.once('error', () => resolve(false));
    child.once('close', (code) => resolve(code === 0));
  });
}
