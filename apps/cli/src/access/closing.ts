import type { ChildProcess } from 'node:child_process';
import {
  closing,
  type ClosingTask,
  type Session,
  startBackground,
  type StartedSession,
  stopRequest,
  stopSession,
} from '#client';
import type { Output } from '../output';
import { timeText } from '../terminal/times';

/** The word by which this program calls itself to end access in the background. People do not type it. */
export const IN_BACKGROUND = 'end-access-in-background';

/** What is left to a process in the background. */
export interface Remaining extends ClosingTask {
  /** sessions that are stopped with the credential of the environment or of this profile */
  readonly own?: { readonly profile: string | undefined; readonly ids: readonly string[] };
}

/**
 * Ends access here and, when that takes long, in a process that outlives this one as well.
 * @param ends says when the access ends at the latest
 */
export const endingToo = <T>(
  work: Promise<T>,
  output: Output,
  { remaining, ends }: { readonly remaining: () => Remaining; readonly ends: string },
): Promise<T> =>
  closing(work, async () => {
    const unanswered = `the server has not answered yet: ${ends}`;
    try {
      const child = await handOver(remaining());
      output.note(
        `${unanswered}${child ? ', and a process in the background goes on asking for its end' : ''}`,
      );
      return child;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      output.note(`${unanswered}: no process in the background could be started (${reason})`);
      return null;
    }
  });

/** @returns null when there is nothing that such a process could do. @throws Error when it cannot be started */
async function handOver(remaining: Remaining): Promise<ChildProcess | null> {
  // a runner ends what it finds of its job by the last of these
  const {
    DRAWBRIDGE_API_KEY: key,
    DRAWBRIDGE_ID_TOKEN: idToken,
    RUNNER_TRACKING_ID: _,
    ...rest
  } = process.env;
  const { own, requests } = remaining;
  // an ID token is accepted once
  if (requests.length === 0 && (!own || idToken)) return null;
  const environment = own && key !== undefined ? { ...rest, DRAWBRIDGE_API_KEY: key } : rest;
  const program = [...process.execArgv, process.argv[1]!, IN_BACKGROUND];
  return startBackground(program, environment, remaining);
}

/** How long a command waits until the server has ended its access. */
export const STOP_TIMEOUT_MS = 30_000;

/** Stops sessions that this process holds, and that are not renewed any more. */
export async function stopHeld(
  url: string,
  sessions: readonly StartedSession[],
  output: Output,
  withinMs = STOP_TIMEOUT_MS,
): Promise<PromiseSettledResult<Session | null>[]> {
  const stops = sessions.map(({ session, control }) => stopSession(control, session.id, withinMs));
  const leased = sessions.flatMap(({ session: { id }, token }) => (token === null ? [] : [{ id, token }]));
  const remaining = (): Remaining => ({
    url,
    requests: leased.map(stopRequest),
    withinMs: Math.max(...sessions.map(({ end }) => end.leftMs)),
  });
  const latest = new Date(Math.max(...sessions.map(({ end }) => end.latest.getTime())));
  // each result says what has failed
  await endingToo(Promise.all(stops), output, { remaining, ends: endsText(latest) }).catch(() => undefined);
  return Promise.allSettled(stops);
}

export const endsText = (latest: Date): string => `the access ends at ${timeText(latest)} at the latest`;
