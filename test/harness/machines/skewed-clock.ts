import { spawnSync } from 'node:child_process';
import { neededInCi } from '../needed-in-ci';

const probe = spawnSync('faketime', ['-m', '-f', '+0', 'printenv', 'LD_PRELOAD'], { encoding: 'utf8' });

/** Whether faketime is installed. Without it, the tests report that they were skipped. */
export const hasFaketime = neededInCi('faketime', probe.status === 0);

/** Environment of a process whose clock is offset by so many seconds and runs at normal speed. */
export const skewedClock = (seconds: number): Readonly<Record<string, string>> => ({
  LD_PRELOAD: probe.stdout.trim(),
  FAKETIME: `${seconds < 0 ? '' : '+'}${seconds}`,
  FAKETIME_DONT_FAKE_MONOTONIC: '1',
});
