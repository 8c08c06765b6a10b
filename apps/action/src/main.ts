import { getInput, info, setFailed } from '@actions/core';
import { failureLine } from './failure';
import { RENEW } from './renewal';
import { renew } from './renewer';
import { start } from './start';
import { isPost, markMain, savedAccess } from './state';
import { stop } from './stop';

/** The program of the main step, of the post step and of the renewer. */
async function main(): Promise<void> {
  if (process.argv[2] === RENEW) {
    await renew();
  } else if (isPost()) {
    const access = savedAccess();
    if (access) await stop(access);
    else info('No access was started');
  } else {
    markMain();
    await start(getInput);
  }
}

main().catch((error: unknown) => setFailed(failureLine(error)));
