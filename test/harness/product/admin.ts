import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { serviceUrlOf } from '../database/template';

export interface AdminRun {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs `drawbridge-admin` as it is shipped.
 * @param env all of its environment but PATH
 * @param input its standard input
 */
export const drawbridgeAdmin = (
  env: Readonly<Record<string, string>>,
  given: readonly string[],
  input = '',
): Promise<AdminRun> =>
  new Promise((done) => {
    const { PATH = '', NODE_COMPILE_CACHE = '' } = process.env;
    const { stdin } = execFile(
      process.execPath,
      ['dist/apps/worker/src/admin/main.js', ...given],
      { cwd: resolve(__dirname, '../../..'), env: { PATH, NODE_COMPILE_CACHE, ...env } },
      (error, stdout, stderr) => done({ code: error ? Number(error.code) : 0, stdout, stderr }),
    );
    stdin!.end(input);
  });

/** Makes the schema of an empty database. @throws Error with what is wrong */
export async function migrate(url: string): Promise<void> {
  const urls = { DATABASE_URL: url, DATABASE_SERVICE_URL: serviceUrlOf(url) };
  const { code, stderr } = await drawbridgeAdmin(urls, ['migrate']);
  if (code !== 0) throw new Error(`The migration failed: ${stderr}`);
}
