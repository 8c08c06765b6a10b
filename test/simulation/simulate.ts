import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** What the simulation prints. @throws what it printed, when something did not hold */
export async function simulate(...given: string[]): Promise<string> {
  const { stdout } = await run(process.execPath, [join(__dirname, 'run.cjs'), ...given]);
  return stdout;
}
