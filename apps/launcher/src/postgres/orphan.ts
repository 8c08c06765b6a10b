import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { commandLineOf, hasEnded, isRunning, signal } from '../processes';
import { readIfPresent } from '../read-if-present';

/**
 * Shuts down a server that outlived the process that started it. Removes a lock file whose process id now belongs to
 * another program, as after a restart of the machine or container: PostgreSQL itself would refuse to start.
 * @returns true when a server was running
 * @throws Error when it cannot be stopped
 */
export async function stopOrphan(cluster: string): Promise<boolean> {
  const lock = join(cluster, 'postmaster.pid');
  const [first, folder] = (readIfPresent(lock) ?? '').split('\n');
  const pid = Number(first);
  if (!pid || !folder || !isRunning(pid)) return false;
  const command = commandLineOf(pid);
  if (!command.includes('postgres') || !command.includes(folder)) {
    rmSync(lock, { force: true });
    return false;
  }
  for (const [name, timeoutMs] of [
    ['SIGINT', 5_000],
    ['SIGQUIT', 5_000],
    ['SIGKILL', 2_000],
  ] as const) {
    signal(pid, name);
    if (await hasEnded(pid, timeoutMs)) return true;
  }
  throw new Error(`An earlier PostgreSQL (process ${pid}) still holds ${cluster} and does not end.`);
}
