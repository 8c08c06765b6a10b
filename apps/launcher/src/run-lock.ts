import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { codeOf, isRunning, startTimeOf } from './processes';

interface Holder {
  readonly pid: number;
  /** tells this process from a later one with the same pid; empty where the system does not say */
  readonly startTime: string;
  readonly address: string;
  /** a copy of the folder brings the lock along, but not the run */
  readonly dataDir: string;
}

export interface RunLock {
  /** true when an earlier run was killed and could not tidy up */
  readonly wasStale: boolean;
  release(): void;
}

/**
 * Makes this process the only one that runs on a data folder.
 * @param address where this run will be reached, told to whoever comes second
 * @throws Error when another run holds the folder
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
  while (!place(path, own)) {
    const text = readIfPresent(path);
    if (text === undefined) continue;
    const holder = parse(text);
    if (holder && holder.dataDir === dataDir && isAlive(holder)) {
      throw new Error(
        `Drawbridge runs already on ${dataDir}: process ${holder.pid}, ${holder.address}\n` +
          'Stop it first, or start a second one beside it:\n\n' +
          '  DATA_DIR=.data/second PORT=3001 SIMULATOR_PORT=4667 npm start',
      );
    }
    wasStale = true;
    setAside(path, text);
  }
  const release = (): void => {
    if (readIfPresent(path) === own) rmSync(path, { force: true });
  };
  return { wasStale, release };
}

/** Where the system tells no start times a new process may have the pid of the one that left the lock: even this one. */
const isAlive = ({ pid, startTime }: Holder): boolean =>
  pid !== process.pid && isRunning(pid) && startTimeOf(pid) === startTime;

/** A link appears with its whole content, and fails where a file is. */
function place(path: string, text: string): boolean {
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

/** Of two that found the same stale lock the slower one may have caught the faster one's new lock: it is put back. */
function setAside(path: string, stale: string): void {
  const aside = `${path}.${process.pid}.stale`;
  try {
    renameSync(path, aside);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return;
    throw error;
  }
  const caught = readFileSync(aside, 'utf8');
  rmSync(aside);
  if (caught !== stale) place(path, caught);
}

function readIfPresent(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** A lock that a crash of the machine has left in pieces is nobody's. */
function parse(text: string): Holder | undefined {
  try {
    return JSON.parse(text) as Holder;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
