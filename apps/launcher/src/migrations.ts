import { spawn } from 'node:child_process';
import { LastLines } from './last-lines';
import type { LogFile } from './log-file';

export interface MigrationOptions {
  /** of drawbridge-admin */
  readonly script: string;
  readonly cwd: string;
  readonly environment: NodeJS.ProcessEnv;
  readonly log: LogFile;
  /** kills the migration; the database rolls back its transaction */
  readonly signal: AbortSignal;
}

/**
 * Runs the migrations.
 * @throws Error with the last output of the migration when it fails
 */
export async function migrate({ script, cwd, environment, log, signal }: MigrationOptions): Promise<void> {
  const stderr = new LastLines();
  const exit = await new Promise<string>((ended) => {
    const child = spawn(process.execPath, [script, 'migrate'], {
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
      stderr.append(chunk);
    });
    child.once('error', (error) => ended(error.message));
    child.once('close', (code, name) => ended(name ?? `exit code ${code}`));
  });
  if (exit === 'exit code 0') return;
  const output = stderr.last.map((line) => `\n    ${line}`).join('');
  throw new Error(`The tables cannot be brought up to date (${exit}).${output}\nMore is in ${log.path}`);
}
