import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { usageFailure } from '../exit-codes';
import { isMissing, systemCode } from './system-error';

const POLL_MS = 50;
/** Longer than any holder takes: a refresh is given up after ten seconds. */
const STALE_AFTER_MS = 30_000;
const TIMEOUT_MS = 60_000;

/** Runs something while no other process of this user does, on this machine. @param path of the lock file */
export async function runLocked<T>(path: string, work: () => Promise<T>): Promise<T> {
  const deadline = Date.now() + TIMEOUT_MS;
  while (!tryLock(path)) {
    removeWhenStale(path);
    if (Date.now() > deadline) {
      throw usageFailure(`${path} stays locked`, `remove it: rm ${path}`);
    }
    await delay(POLL_MS);
  }
  try {
    return await work();
  } finally {
    rmSync(path, { force: true });
  }
}

function tryLock(path: string): boolean {
  try {
    writeFileSync(path, String(process.pid), { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if (systemCode(error) === 'EEXIST') return false;
    throw error;
  }
}

/** Renamed first, so that one of several waiters succeeds; a lock that was taken meanwhile is put back. */
function removeWhenStale(path: string): void {
  const holder = holderOf(path);
  if (holder === null || !isGone(holder)) return;
  const aside = `${path}.${process.pid}`;
  try {
    renameSync(path, aside);
  } catch (error) {
    if (isMissing(error)) return;
    throw error;
  }
  if (holderOf(aside)?.pid === holder.pid) rmSync(aside, { force: true });
  else renameSync(aside, path);
}

interface Holder {
  readonly pid: number;
  readonly since: number;
}

function holderOf(path: string): Holder | null {
  try {
    return { pid: Number(readFileSync(path, 'utf8')), since: statSync(path).mtimeMs };
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

function isGone({ pid, since }: Holder): boolean {
  if (Date.now() - since > STALE_AFTER_MS) return true;
  // just made, and not written yet
  if (!(pid > 0)) return false;
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return systemCode(error) === 'ESRCH';
  }
}
