import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './layer-violations';

export interface SourceFile {
  readonly path: string;
  readonly lines: number;
}

/** Every source of the repository, tests included, without generated types. */
export function sourceFiles(): SourceFile[] {
  const listed = execFileSync('git', ['ls-files', 'apps', 'libs', 'test', 'tools'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  return listed
    .split('\n')
    .filter((path) => /\.(ts|cts|cjs|mjs)$/.test(path) && !path.endsWith('.d.ts'))
    .filter((path) => existsSync(join(ROOT, path)))
    .map((path) => ({ path, lines: readFileSync(join(ROOT, path), 'utf8').split('\n').length - 1 }));
}

export const longest = (files: readonly SourceFile[]): SourceFile =>
  files.reduce((one, other) => (other.lines > one.lines ? other : one));

export const medianLines = (files: readonly SourceFile[]): number =>
  files.map(({ lines }) => lines).toSorted((one, other) => one - other)[files.length >> 1] ?? 0;
