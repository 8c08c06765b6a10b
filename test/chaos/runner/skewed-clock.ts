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

/** Whether this machine can give a process a wrong clock. Where it cannot, the tests say so. */
export const hasFaketime = neededInCi(
  'faketime',
  library !== undefined && spawnSync('faketime', ['--version']).status === 0,
);

/** The environment of a process whose clock is wrong by so many minutes; timers go on as they are. */
export function skewedClock(minutes: number): Record<string, string> {
  if (!library) throw new Error('libfaketime is not on this machine: apt-get install faketime');
  return {
    LD_PRELOAD: library,
    FAKETIME: `${minutes < 0 ? '-' : '+'}${Math.abs(minutes)}m`,
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
  };
}
