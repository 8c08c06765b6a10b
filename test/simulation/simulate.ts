import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Runs the simulation's command. @returns its output; @throws Error with the output when an oracle was violated */
export async function simulate(...args: string[]): Promise<string> {
  const { stdout } = await run(process.execPath, [join(__dirname, 'run.cjs'), ...args]);
  return stdout;
}
