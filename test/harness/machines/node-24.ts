import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';
import { neededInCi } from '../needed-in-ci';

const ROOT = resolve(__dirname, '../../..');

/** Node.js 24, which runs actions. @returns its path; null where it cannot be had: actions are not tested there */
export function node24(): string | null {
  const program = execFileSync(process.execPath, ['tools/node-24.mjs'], { cwd: ROOT, encoding: 'utf8' });
  return neededInCi('Node.js 24', program !== '') ? program : null;
}
