import { execFileSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { codeOf } from '../processes';

/** The ids to run PostgreSQL with, as options of `spawn`; empty: those of the caller. */
export type RunAs = { uid: number; gid: number } | Record<string, never>;

/**
 * PostgreSQL refuses to run as root. For root, an existing cluster keeps its owner; otherwise the user is `postgres`,
 * created if missing, or `nobody` when users cannot be created. Other users run it as themselves.
 * @throws Error when root finds no such user
 */
export function chooseRunAs(clusterFolder: string): RunAs {
  if (process.getuid?.() !== 0) return {};
  const found = ownerOf(clusterFolder) ?? idsOf('postgres') ?? createPostgres() ?? idsOf('nobody');
  if (!found) {
    throw new Error(
      'PostgreSQL does not run as root, and there is no user "postgres" or "nobody" to run it as. ' +
        'Start as an ordinary user, or give DATABASE_URL.',
    );
  }
  return found;
}

function ownerOf(folder: string): RunAs | undefined {
  try {
    const { uid, gid } = statSync(folder);
    return uid === 0 ? undefined : { uid, gid };
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

function idsOf(user: string): RunAs | undefined {
  const [uid, gid] = ['-u', '-g'].map((flag) => Number(output('id', [flag, user]) ?? Number.NaN));
  return Number.isInteger(uid) && Number.isInteger(gid) && uid !== 0 ? { uid: uid!, gid: gid! } : undefined;
}

function createPostgres(): RunAs | undefined {
  output('groupadd', ['--system', 'postgres']);
  output('useradd', [
    '--system',
    '--gid',
    'postgres',
    '--no-create-home',
    '--shell',
    '/bin/false',
    'postgres',
  ]);
  return idsOf('postgres');
}

/** The output of a program; undefined when it is missing or fails: callers then try the next user. */
function output(program: string, args: string[]): string | undefined {
  try {
    return execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  } catch {
    return undefined;
  }
}
