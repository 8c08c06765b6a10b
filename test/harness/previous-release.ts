import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

const ROOT = resolve(__dirname, '../..');
const run = promisify(execFile);

const git = (...args: string[]): string => execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).trim();

/** @returns why the commit cannot be built here; null: it can */
export function whyNotInHistory(commit: string): 'no repository' | 'shallow' | 'missing' | null {
  try {
    if (git('rev-parse', '--is-shallow-repository') === 'true') {
      return isCommit(commit) ? null : 'shallow';
    }
  } catch {
    return 'no repository';
  }
  return isCommit(commit) ? null : 'missing';
}

function isCommit(commit: string): boolean {
  try {
    git('cat-file', '-e', `${commit}^{commit}`);
    return true;
  } catch {
    return false;
  }
}

/** An earlier release, built from this repository's history, with the packages of this one. */
export class PreviousRelease {
  private constructor(readonly root: string) {}

  static async build(commit: string): Promise<PreviousRelease> {
    const root = mkdtempSync(join(tmpdir(), 'drawbridge-release-'));
    const release = new PreviousRelease(root);
    try {
      const archive = join(root, 'release.tar');
      await run('git', ['archive', '--output', archive, commit], { cwd: ROOT });
      await run('tar', ['-xf', archive, '-C', root]);
      symlinkSync(join(ROOT, 'node_modules'), join(root, 'node_modules'));
      // only its build: `prepare` might install its packages over those of this release
      const build = `import(${JSON.stringify(join(root, 'apps/launcher/bin/build.mjs'))})
        .then(({ buildWhenStale }) => buildWhenStale(${JSON.stringify(root)}))`;
      await run(process.execPath, ['--eval', build], { cwd: root });
    } catch (error) {
      release.remove();
      throw error;
    }
    return release;
  }

  /** Brings the schema of a database to this release's. */
  migrate(url: string): Promise<void> {
    return migrate(this.root, url);
  }

  remove(): void {
    rmSync(this.root, { recursive: true, force: true });
  }
}

/** Brings the schema of a database to that of the release in this repository. */
export const migrateToThisRelease = (url: string): Promise<void> => migrate(ROOT, url);

async function migrate(root: string, url: string): Promise<void> {
  const { PATH, HOME } = process.env;
  await run(process.execPath, ['dist/apps/worker/src/migrate.js'], {
    cwd: root,
    env: { PATH, HOME, DATABASE_URL: url },
  });
}
