import { setTimeout as delay } from 'node:timers/promises';
import { ApiFailure, Unreachable } from '#client';
import { info } from './log';

const MAX_ATTEMPTS = 3;
const PAUSE_SECONDS = 2;

/**
 * Repeats what a server did not answer, as during its update: that fails no job.
 * @param work makes a new request each time
 * @throws its last failure
 */
export async function repeat<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (!isUnanswered(error) || attempt >= MAX_ATTEMPTS) throw error;
      const seconds = attempt * PAUSE_SECONDS;
      info(`${error.message}: trying again in ${seconds} s`);
      await delay(1000 * seconds);
    }
  }
}

const isUnanswered = (error: unknown): error is Error =>
  error instanceof Unreachable || (error instanceof ApiFailure && error.status >= 500);
