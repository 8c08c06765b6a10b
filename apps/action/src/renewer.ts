import { constants, existsSync, openSync, rmSync, writeSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import {
  AccessEnd,
  closeAll,
  createApi,
  keepAlive,
  type LeaseListener,
  patienceOf,
  sessionToken,
  stopRequest,
  visible,
  waitForSlowLinks,
} from '#client';
import type { RenewalTask } from './renewal';

const CHECK_INTERVAL_MS = 1_000;

/**
 * Renews the sessions until the post step removes the file of the notes, until they have ended, or until the runner has
 * gone: then nothing else ends them, so they are stopped here.
 */
async function renew(): Promise<void> {
  const task = JSON.parse(await text(process.stdin)) as RenewalTask;
  const listener = notesIn(task.notesFile);
  // a short job: the post step came first
  if (listener === null) return;
  const leases = task.sessions.map(({ id, token, end }) => ({
    sessionId: id,
    leaseSeconds: task.leaseSeconds,
    end: new AccessEnd(end),
    control: createApi({
      url: task.url,
      credential: sessionToken(token),
      patienceMs: patienceOf(task.leaseSeconds),
    }),
  }));
  const over = new AbortController();
  const timer = setInterval(() => {
    if (!existsSync(task.notesFile) || isGone(task.runnerPid)) over.abort();
  }, CHECK_INTERVAL_MS);
  await Promise.all(leases.map((lease) => keepAlive(lease, listener, over.signal)));
  clearInterval(timer);
  if (!isGone(task.runnerPid)) return;
  const withinMs = Math.max(0, ...leases.map(({ end }) => end.leftMs));
  await closeAll({ url: task.url, requests: task.sessions.map(stopRequest), withinMs });
  rmSync(task.notesFile, { force: true });
}

/**
 * Lines for the post step to show. Opened once and never created: a file that comes back after the post step has
 * removed it would hide that the job is over.
 * @returns null when the file is removed
 */
function notesIn(file: string): LeaseListener | null {
  if (!existsSync(file)) return null;
  const descriptor = openSync(file, constants.O_WRONLY | constants.O_APPEND);
  const note = (line: string): void => {
    writeSync(descriptor, `${new Date().toISOString()} ${visible(line)}\n`);
  };
  return {
    lost: (reason, endsAt) =>
      note(`The access could not be renewed (${reason}): it would end at ${endsAt.toISOString()}`),
    regained: () => note('The access was renewed again'),
    ended: (reason) => note(`The access ended before the job did (${reason})`),
  };
}

function isGone(pid: number): boolean {
  if (pid <= 1) return false;
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    // a process of another user is there all the same
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}

waitForSlowLinks();
void renew();
