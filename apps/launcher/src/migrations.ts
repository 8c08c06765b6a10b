import { spawn } from 'node:child_process';
import { LastLines } from './last-lines';
import type { LogFile } from './log-file';

export interface MigrationOptions {
  readonly script: string;
  readonly cwd: string;
  readonly environment: NodeJS.ProcessEnv;
  readonly log: LogFile;
  /** ends the migration; what it has begun is rolled back by the database */
  readonly signal: AbortSignal;
}

/**
 * Brings the tables up to date.
 * @throws Error with the last words of the migration when it fails
 */
export async function migrate({ script, cwd, environment, log, signal }: MigrationOptions): Promise<void> {
  const words = new LastLines();
  const how = await new Promise<string>((ended) => {
    const child = spawn(process.execPath, [script], {
      cwd,
      env: environment,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      signal,
      killSignal: 'SIGKILL',
    });
    child.stdout.on('data', (chunk: Buffer) => log.write(chunk));
    child.stderr.on('data', (chunk: Buffer) => {
      log.write(chunk);
      words.hear(chunk);
    });
    child.once('error', (error) => ended(error.message));
    child.once('close', (code, name) => ended(name ?? `exit code ${code}`));
  });
  if (how === 'exit code 0') return;
  const last = words.last.map((line) => `\n    ${line}`).join('');
  throw new Error(`The tables cannot be brought up to date (${how}).${last}\nMore is in ${log.path}`);
}
