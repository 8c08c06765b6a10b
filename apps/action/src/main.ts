import { getInput } from '@actions/core';
import { waitForSlowLinks } from '#client';
import { failureLine } from './failure';
import { info, setFailed } from './log';
import { start } from './start';
import { savedAccess } from './state';
import { stop } from './stop';

/** The main step. */
export const main = (): Promise<void> => run(() => start(getInput));

/**
 * The post step. A program of its own: when the main step is killed before it has saved anything, nothing else tells this
 * one that it is not the main step.
 */
export const post = (): Promise<void> =>
  run(async () => {
    const access = savedAccess();
    if (access) await stop(access);
    else info('No access was started');
  });

async function run(step: () => Promise<void>): Promise<void> {
  waitForSlowLinks();
  try {
    await step();
  } catch (error) {
    setFailed(failureLine(error));
  }
}
