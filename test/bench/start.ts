import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { onDisk } from '../chaos/runner/own-postgres';
import { figure, type Figure } from './figure';

const ROOT = resolve(__dirname, '../..');
const STARTS = 7;
const MAX_SECONDS = 6;
const TIMEOUT_MS = 120_000;

/** Durations of `npm start` in an installed checkout. */
export async function start(): Promise<Figure[]> {
  const folder = await mkdtemp(join(onDisk(), 'drawbridge-start-'));
  // the server may run as a different user
  await chmod(folder, 0o755);
  try {
    const first = await startOnce(join(folder, 'data'));
    const again: number[] = [];
    for (let index = 0; index < STARTS; index += 1) again.push(await startOnce(join(folder, 'data')));
    return [
      figure('npm start, installed, to the printed commands', 's', again, { atMost: MAX_SECONDS }),
      figure('npm start, its first one: with a new database', 's', [first]),
    ];
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Starts everything, and stops it as Ctrl-C does. @returns seconds until the commands are printed */
async function startOnce(dataDir: string): Promise<number> {
  const began = performance.now();
  const child = spawn('npm', ['start'], {
    cwd: ROOT,
    env: { ...process.env, DATA_DIR: dataDir, PORT: '0', SIMULATOR_PORT: '0' },
    // its own process group, which a terminal's Ctrl-C would reach as a whole
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(child, 'close');
  const printed: string[] = [];
  const isReady = new Promise<void>((ready) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        printed.push(chunk.toString());
        if (printed.join('').includes('Ready in')) ready();
      });
    }
  });
  const timer = setTimeout(() => signalGroup('SIGKILL'), TIMEOUT_MS);
  const signalGroup = (signal: NodeJS.Signals): boolean => process.kill(-child.pid!, signal);
  await Promise.race([isReady, ended]);
  const seconds = (performance.now() - began) / 1000;
  clearTimeout(timer);
  if (child.exitCode !== null || child.signalCode !== null)
    throw new Error(`npm start ended:\n${printed.join('')}`);
  signalGroup('SIGINT');
  await ended;
  return seconds;
}
