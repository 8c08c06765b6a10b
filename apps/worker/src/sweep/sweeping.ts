import type { Logger } from 'pino';
import type { Sweeper } from '#engine';
import { RepeatedTask } from '../repeated-task';

const INTERVAL_MS = 1000;

/** Sweeps every second, and earlier when a session ends before that. */
export function sweeping(sweeper: Sweeper, log: Logger): RepeatedTask {
  return new RepeatedTask('sweep', INTERVAL_MS, (stopping) => sweeper.sweep(stopping), log);
}
