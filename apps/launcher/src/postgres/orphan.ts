import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { codeOf, commandLineOf, hasEnded, isRunning, signal } from '../processes';

/**
 * Shuts down a server that outlived the process that started it. Removes a lock file whose process id now belongs to
 * another program, as after a restart of the machine or container: PostgreSQL itself would refuse to start.
 * @returns true when a server was running
 * @throws Error when it cannot be stopped
 */
export async function stopOrphan(cluster: string): Promise<boolean> {
  const lock = join(cluster, 'postmaster.pid');
  const [pid, folder] = readLock(lock);
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

function readLock(lock: string): [number, string | undefined] {
  try {
    const [pid, folder] = readFileSync(lock, 'utf8').split('\n');
    return [Number(pid), folder];
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return [0, undefined];
    throw error;
  }
}
