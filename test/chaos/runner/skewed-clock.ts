import { existsSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { neededInCi } from '../../harness/needed-in-ci';

const FOLDERS = [
  '/usr/lib/x86_64-linux-gnu/faketime',
  '/usr/lib/aarch64-linux-gnu/faketime',
  '/usr/lib/faketime',
  '/usr/local/lib/faketime',
];

const library = FOLDERS.map((folder) => `${folder}/libfaketime.so.1`).find((path) => existsSync(path));

/** Whether faketime is installed. Without it, tests with wrong clocks are skipped with a message. */
export const hasFaketime = neededInCi(
  'faketime',
  library !== undefined && spawnSync('faketime', ['--version']).status === 0,
);

/** The environment for a process whose clock is wrong by this many minutes; timers are not affected. */
export function skewedClock(minutes: number): Record<string, string> {
  if (!library) throw new Error('libfaketime is not on this machine: apt-get install faketime');
  return {
    LD_PRELOAD: library,
    FAKETIME: `${minutes < 0 ? '-' : '+'}${Math.abs(minutes)}m`,
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
  };
}
