import { text } from 'node:stream/consumers';
import { closeAll, type ClosingTask, waitForSlowLinks } from '#client';

/** Ends what a post step could not end, until the server answers or nothing is left to end. */
async function close(): Promise<void> {
  await closeAll(JSON.parse(await text(process.stdin)) as ClosingTask);
}

waitForSlowLinks();
void close();
