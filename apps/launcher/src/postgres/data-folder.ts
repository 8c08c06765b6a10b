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

/** Where the data is kept, and folders that an earlier, since deleted data folder of the same path left behind. */
export interface DataFolder {
  folder: string;
  former: string[];
}

/** Written into the desired folder when the data had to go elsewhere. */
interface Location {
  data: string;
  of: string;
  why: string;
}

const elsewhere = ['/var/lib/drawbridge', '/var/tmp/drawbridge'];

/**
 * Makes the folder for the cluster. When root hands over to a user that cannot reach the desired folder (a clone below
 * /root), the data goes to a folder that user can reach, and a note in the desired folder tells where.
 * @param say told in one line when the data is elsewhere
 * @throws Error when data is there already and cannot be reached any more
 */
export function placeData(desired: string, runAs: RunAs, say: (line: string) => void): DataFolder {
  mkdirSync(desired, { recursive: true });
  refuseForeign(desired, runAs);
  const noted = readNote(desired);
  if (noted) {
    refuseForeign(noted.data, runAs);
    say(`PostgreSQL's data is in ${noted.data}: ${noted.why}`);
    return { folder: noted.data, former: [] };
  }
  if (runAs.uid === undefined) return { folder: desired, former: [] };
  if (!existsSync(join(desired, 'cluster'))) handOver(desired, runAs);
  if (canReach(desired, runAs)) return { folder: desired, former: [] };
  if (existsSync(join(desired, 'cluster'))) {
    throw new Error(`PostgreSQL runs as uid ${runAs.uid}, which no longer reaches the data in ${desired}.`);
  }
  return moveOut(desired, runAs, say);
}

/** Makes a file or folder belong to the user PostgreSQL runs as, and to nobody else. */
export function handOver(path: string, { uid, gid }: RunAs, mode = 0o700): void {
  if (uid !== undefined && gid !== undefined) chownSync(path, uid, gid);
  chmodSync(path, mode);
}

/** An ordinary user cannot go on with what an earlier run as root, or as another user, has made. */
function refuseForeign(folder: string, runAs: RunAs): void {
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

function moveOut(desired: string, runAs: RunAs, say: (line: string) => void): DataFolder {
  const why = `${desired} cannot be reached by uid ${runAs.uid}, which PostgreSQL runs as because it refuses root`;
  const prefix = `${createHash('sha256').update(desired).digest('hex').slice(0, 8)}-`;
  for (const base of elsewhere) {
    mkdirSync(base, { recursive: true, mode: 0o755 });
    const former = readdirSync(base).filter((name) => name.startsWith(prefix));
    const data = mkdtempSync(join(base, prefix));
    handOver(data, runAs);
    if (canReach(data, runAs)) {
      writeJsonObject(noteIn(desired), { data, of: desired, why } satisfies Location);
      say(`PostgreSQL's data is in ${data}: ${why}`);
      return { folder: data, former: former.map((name) => join(base, name)) };
    }
    rmSync(data, { recursive: true });
  }
  throw new Error(
    `${why}, and neither does it reach ${elsewhere.join(' or ')}. Set DATA_DIR to a folder it reaches.`,
  );
}

/** Asks the system itself, as that user: modes alone do not tell of access lists and mount options. */
function canReach(folder: string, runAs: RunAs): boolean {
  const script = 'test -x "$1" && test -w "$1"';
  return spawnSync('/bin/sh', ['-c', script, 'sh', folder], { ...runAs, cwd: '/' }).status === 0;
}

const noteIn = (desired: string): string => join(desired, 'data-location.json');

/** The note, unless it came along with a copy of the folder: two folders must not share one cluster. */
function readNote(desired: string): Location | undefined {
  const found = readJsonObject(noteIn(desired));
  const [data, of, why] = ['data', 'of', 'why'].map((field) => textIn(found, field));
  if (!data || !of || !why || !existsSync(data)) return undefined;
  if (of === desired) return { data, of, why };
  if (existsSync(noteIn(of))) return undefined;
  const moved = { data, of: desired, why };
  writeJsonObject(noteIn(desired), moved);
  return moved;
}
