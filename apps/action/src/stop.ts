import { existsSync, readFileSync, rmSync } from 'node:fs';
import { summary } from '@actions/core';
import {
  AccessEnd,
  closing,
  createApi,
  monotonicMs,
  sessionToken,
  settleClosed,
  stopRequest,
  stopSession,
} from '#client';
import { notKnown, reasonOf } from './failure';
import { info, warning } from './log';
import { startCloser } from './renewal';
import type { Access, SessionState } from './state';

const STOP_TIMEOUT_MS = 20_000;
const REMOVAL_TIMEOUT_MS = 20_000;
/** The renewer ends this long after its file was removed, with room: until then it may renew. */
const RENEWER_ENDS_SECONDS = 2;

/** What became of a session at the end of the job. */
interface Ending {
  readonly id: string;
  /** seconds from the request to end it until its rules were removed; null: they are not yet, or it is unknown */
  readonly seconds: number | null;
  readonly text: string;
}

/** The post step: ends the access, waits until its rules are removed, and writes the job summary. Never fails the job. */
export async function stop(access: Access): Promise<void> {
  const notes = takeNotes(access.notesFile);
  for (const note of notes) warning(note);
  const endings = await Promise.all(access.sessions.map((session) => end(access, session)));
  for (const { seconds, text } of endings) {
    if (seconds === null) warning(text);
    else info(text);
  }
  await writeSummary(access.address, endings, notes);
}

/** Reads the renewer's notes, and ends it by removing their file. */
function takeNotes(file: string): string[] {
  if (!existsSync(file)) return [];
  const notes = readFileSync(file, 'utf8').split('\n').filter(Boolean);
  rmSync(file, { force: true });
  return notes;
}

async function end({ url, leaseSeconds }: Access, session: SessionState): Promise<Ending> {
  const { id, token } = session;
  const control = createApi({ url, credential: sessionToken(token) });
  const ends = new AccessEnd(session.end);
  ends.mayBeRenewed(leaseSeconds + RENEWER_ENDS_SECONDS);
  const began = monotonicMs();
  const notRemoved = (text: string): Ending => ({ id, seconds: null, text });
  try {
    // this step may be ended at any time, and the job does not wait long for it
    const closed = await closing(stopSession(control, id, STOP_TIMEOUT_MS), async () => {
      const task = { url, requests: [stopRequest(session)], withinMs: ends.leftMs };
      const latest = `The server has not answered yet: the access ends at ${ends.latest.toISOString()} at the latest`;
      try {
        const child = await startCloser(task);
        info(`${latest}, and a process that outlives this job goes on asking for its end`);
        return child;
      } catch (error) {
        warning(`${latest}: no process that outlives this job could be started (${reasonOf(error)})`);
        return null;
      }
    });
    // the token ends when the rules are removed
    if (closed === null) return { id, seconds: 0, text: 'The access had already ended' };
  } catch (error) {
    return notRemoved(notKnown(error, ends));
  }
  try {
    if ((await settleClosed(control, id, REMOVAL_TIMEOUT_MS)) === null) return removed(id, began);
    const timeout = `${REMOVAL_TIMEOUT_MS / 1000} s`;
    return notRemoved(`The rules were not removed within ${timeout}: Drawbridge goes on removing them`);
  } catch (error) {
    return notRemoved(
      `The access was stopped, and Drawbridge goes on removing its rules: ${reasonOf(error)}`,
    );
  }
}

function removed(id: string, began: number): Ending {
  const seconds = (monotonicMs() - began) / 1000;
  return { id, seconds, text: `The rules were removed ${seconds.toFixed(1)} s after the stop` };
}

async function writeSummary(
  address: string,
  endings: readonly Ending[],
  notes: readonly string[],
): Promise<void> {
  // older runners have no summaries
  if (!process.env['GITHUB_STEP_SUMMARY']) return;
  const heading = ['Session', 'Allowed address', 'End'].map((data) => ({ data, header: true }));
  summary.addHeading('Drawbridge access', 3);
  summary.addTable([heading, ...endings.map(({ id, text }) => [id, address, text].map(plainText))]);
  if (notes.length > 0) summary.addList(notes.map(plainText));
  await summary.write();
}

/** A summary is HTML and Markdown. */
const plainText = (text: string): string =>
  text.replaceAll(/[&<>[\]!*_`\\]/g, (character) => `&#${character.codePointAt(0)};`);
