import { spawn } from 'node:child_process';

/**
 * Tells systemd that the guard is loaded, and from then on that the agent is alive: it restarts one that hangs. Without
 * systemd it sends nothing.
 */
export function notifyServiceManager(env: NodeJS.ProcessEnv, isAlive: () => boolean): void {
  if (!env['NOTIFY_SOCKET']) return;
  notify('READY=1');
  const timeoutMs = Number(env['WATCHDOG_USEC']) / 1000;
  if (!(timeoutMs > 0)) return;
  setInterval(() => {
    if (isAlive()) notify('WATCHDOG=1');
  }, timeoutMs / 3).unref();
}

/** Node.js cannot send datagrams to a Unix socket: systemd's own program does. */
const notify = (message: string): void =>
  spawn('systemd-notify', [message], { stdio: 'ignore' })
    // systemd acts when a sign of life is missing
    .on('error', () => undefined)
    .unref();
