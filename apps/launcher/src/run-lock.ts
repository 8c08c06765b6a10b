import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { codeOf, isRunning, startTimeOf } from './processes';
import { readIfPresent } from './read-if-present';

interface Holder {
  readonly pid: number;
  /** distinguishes this process from a later one with the same pid; empty where unknown */
  readonly startTime: string;
  readonly address: string;
  /** detects a lock that was copied with the folder */
  readonly dataDir: string;
}

export interface RunLock {
  /** an earlier run was killed and did not clean up */
  readonly wasStale: boolean;
  release(): void;
}

/** Another run holds the data folder. */
export class RunsAlready extends Error {}

/**
 * Acquires the exclusive lock on a data folder.
 * @param address of this run, shown when a second run is refused
 * @throws RunsAlready
 */
export function takeRunLock(dataDir: string, address: string): RunLock {
  const path = join(dataDir, 'running.json');
  const own = JSON.stringify({
    pid: process.pid,
    startTime: startTimeOf(process.pid),
    address,
    dataDir,
  } satisfies Holder);
  let wasStale = false;
  while (!tryLock(path, own)) {
    const text = readIfPresent(path);
    if (text === undefined) continue;
    const holder = parse(text);
    if (holder && holder.dataDir === dataDir && isAlive(holder)) {
      throw new RunsAlready(
        `Drawbridge runs already on ${dataDir}: process ${holder.pid}, ${holder.address}`,
      );
    }
    wasStale = true;
    removeStaleLock(path, text);
  }
  const release = (): void => {
    if (readIfPresent(path) === own) rmSync(path, { force: true });
  };
  return { wasStale, release };
}

/** Without start times a new process, even this one, may have the pid of the process that left the lock. */
const isAlive = ({ pid, startTime }: Holder): boolean =>
  pid !== process.pid && isRunning(pid) && startTimeOf(pid) === startTime;

/** Linking a finished file is atomic and fails when the lock exists. */
function tryLock(path: string, text: string): boolean {
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, text);
  try {
    linkSync(draft, path);
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

/**
 * Of two processes that found the same stale lock, the slower one may have moved the faster one's new lock: it is put
 * back.
 */
function removeStaleLock(path: string, stale: string): void {
  const aside = `${path}.${process.pid}.stale`;
  try {
    renameSync(path, aside);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return;
    throw error;
  }
  const moved = readFileSync(aside, 'utf8');
  rmSync(aside);
  if (moved !== stale) tryLock(path, moved);
}

/** @returns undefined for a lock damaged by a crash of the machine: it has no holder */
function parse(text: string): Holder | undefined {
  try {
    return JSON.parse(text) as Holder;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
