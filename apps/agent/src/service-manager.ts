import { spawn } from 'node:child_process';

/** Notifications to systemd, which restarts an agent that hangs. Without systemd they are left out. */
export class ServiceManager {
  private readonly isPresent: boolean;
  /** between two signs of life, in milliseconds; null: systemd expects none */
  readonly watchdogIntervalMs: number | null;

  constructor(env: Readonly<Record<string, string | undefined>>) {
    this.isPresent = Boolean(env['NOTIFY_SOCKET']);
    const timeoutMs = Number(env['WATCHDOG_USEC']) / 1000;
    this.watchdogIntervalMs = this.isPresent && timeoutMs > 0 ? timeoutMs / 3 : null;
  }

  /** The guard of the files is loaded, and the agent serves. */
  ready(): void {
    this.notify('READY=1');
  }

  isAlive(): void {
    this.notify('WATCHDOG=1');
  }

  /** Node.js cannot send datagrams to a Unix socket: systemd's own program does. */
  private notify(message: string): void {
    if (!this.isPresent) return;
    spawn('systemd-notify', [message], { stdio: 'ignore' })
      // systemd acts when a sign of life is missing
      .on('error', () => undefined)
      .unref();
  }
}
