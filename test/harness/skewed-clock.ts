import { spawnSync } from 'node:child_process';
import { neededInCi } from './needed-in-ci';

const probe = spawnSync('faketime', ['-m', '-f', '+0', 'printenv', 'LD_PRELOAD'], { encoding: 'utf8' });

/** Whether this machine can give a process another clock. Where it cannot, the tests say so instead of passing in silence. */
export const hasFaketime = neededInCi('faketime', probe.status === 0);

/** Environment of a process whose clock goes wrong by so many seconds; how fast time passes is as ever. */
export const skewedClock = (seconds: number): Readonly<Record<string, string>> => ({
  LD_PRELOAD: probe.stdout.trim(),
  FAKETIME: `${seconds < 0 ? '' : '+'}${seconds}`,
  FAKETIME_DONT_FAKE_MONOTONIC: '1',
});
