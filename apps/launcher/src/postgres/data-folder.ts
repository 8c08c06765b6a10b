import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  accessSync,
  chmodSync,
  chownSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
} from 'node:fs';
import { join } from 'node:path';
import { readJsonObject, textIn, writeJsonObject } from '../json-file';
import type { RunAs } from './system-user';

/** The folder of the data, and folders left behind by an earlier, since deleted data folder of the same path. */
export interface DataFolder {
  folder: string;
  former: string[];
}

/** Stored in the desired folder when the data is in another one. */
interface Location {
  data: string;
  of: string;
  why: string;
}

const FALLBACK_FOLDERS = ['/var/lib/drawbridge', '/var/tmp/drawbridge'];

/**
 * Creates the folder of the cluster. When PostgreSQL runs as a user that cannot access the desired folder (a clone below
 * /root), the data is stored in a folder that this user can access, and a file in the desired folder points there.
 * @param print called with one line when the data is in another folder
 * @throws Error when existing data cannot be accessed any more
 */
export function placeData(desired: string, runAs: RunAs, print: (line: string) => void): DataFolder {
  mkdirSync(desired, { recursive: true });
  assertAccessible(desired, runAs);
  const stored = readLocation(desired);
  if (stored) {
    assertAccessible(stored.data, runAs);
    print(`PostgreSQL's data is in ${stored.data}: ${stored.why}`);
    return { folder: stored.data, former: [] };
  }
  if (runAs.uid === undefined) return { folder: desired, former: [] };
  if (!existsSync(join(desired, 'cluster'))) changeOwner(desired, runAs);
  if (canAccess(desired, runAs)) return { folder: desired, former: [] };
  if (existsSync(join(desired, 'cluster'))) {
    throw new Error(`PostgreSQL runs as uid ${runAs.uid}, which no longer reaches the data in ${desired}.`);
  }
  return createFallback(desired, runAs, print);
}

/** Makes a file or folder accessible only to the user PostgreSQL runs as. */
export function changeOwner(path: string, { uid, gid }: RunAs, mode = 0o700): void {
  if (uid !== undefined && gid !== undefined) chownSync(path, uid, gid);
  chmodSync(path, mode);
}

/** An ordinary user cannot use the data of an earlier run as root or as another user. */
function assertAccessible(folder: string, runAs: RunAs): void {
  if (runAs.uid !== undefined) return;
  try {
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new Error(
      `The data in ${folder} belongs to another user, perhaps of an earlier run as root: start as that user, or set DATA_DIR.`,
      { cause: error },
    );
  }
}

function createFallback(desired: string, runAs: RunAs, print: (line: string) => void): DataFolder {
  const why = `${desired} cannot be reached by uid ${runAs.uid}, which PostgreSQL runs as because it refuses root`;
  const prefix = `${createHash('sha256').update(desired).digest('hex').slice(0, 8)}-`;
  for (const base of FALLBACK_FOLDERS) {
    mkdirSync(base, { recursive: true, mode: 0o755 });
    const former = readdirSync(base).filter((name) => name.startsWith(prefix));
    const data = mkdtempSync(join(base, prefix));
    changeOwner(data, runAs);
    if (canAccess(data, runAs)) {
      writeJsonObject(locationFile(desired), { data, of: desired, why } satisfies Location);
      print(`PostgreSQL's data is in ${data}: ${why}`);
      return { folder: data, former: former.map((name) => join(base, name)) };
    }
    rmSync(data, { recursive: true });
  }
  throw new Error(
    `${why}, and neither does it reach ${FALLBACK_FOLDERS.join(' or ')}. Set DATA_DIR to a folder it reaches.`,
  );
}

/** Tests as that user: file modes alone do not reflect access lists and mount options. */
function canAccess(folder: string, runAs: RunAs): boolean {
  const script = 'test -x "$1" && test -w "$1"';
  return spawnSync('/bin/sh', ['-c', script, 'sh', folder], { ...runAs, cwd: '/' }).status === 0;
}

const locationFile = (desired: string): string => join(desired, 'data-location.json');

/**
 * The stored location. Ignored in a copy of the folder, as two folders must not share one cluster; updated after a
 * move.
 */
function readLocation(desired: string): Location | undefined {
  const found = readJsonObject(locationFile(desired));
  const [data, of, why] = ['data', 'of', 'why'].map((field) => textIn(found, field));
  if (!data || !of || !why || !existsSync(data)) return undefined;
  if (of === desired) return { data, of, why };
  if (existsSync(locationFile(of))) return undefined;
  const moved = { data, of: desired, why };
  writeJsonObject(locationFile(desired), moved);
  return moved;
}
