import { existsSync, readFileSync, rmSync } from 'node:fs';
import { summary } from '@actions/core';
import { createApi, sessionToken, settleClosed, stopSession } from '#client';
import { failureLine } from './failure';
import { info, warning } from './log';
import type { Access, SessionState } from './state';

const REMOVAL_TIMEOUT_MS = 20_000;

/** What became of a session at the end of the job. */
interface Ending {
  readonly id: string;
  /** seconds from the request to end it until its rules were removed; null: they are not yet, or nobody knows */
  readonly seconds: number | null;
  readonly text: string;
}

/** The post step: ends the access, waits until its rules are removed, and writes the job summary. Never fails the job. */
export async function stop(access: Access): Promise<void> {
  const notes = takeNotes(access.notesFile);
  for (const note of notes) warning(note);
  const endings = await Promise.all(access.sessions.map((session) => end(access.url, session)));
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

async function end(url: string, { id, token }: SessionState): Promise<Ending> {
  const control = createApi({ url, credential: sessionToken(token) });
  const began = Date.now();
  try {
    // the token ends when the rules are removed
    const closed = (await stopSession(control, id)) === null;
    if (closed) return { id, seconds: 0, text: 'The access had already ended' };
    if ((await settleClosed(control, id, REMOVAL_TIMEOUT_MS)) === null) return removed(id, began);
    const text = `The rules were not removed within ${REMOVAL_TIMEOUT_MS / 1000} s: Drawbridge goes on removing them`;
    return { id, seconds: null, text };
  } catch (error) {
    return {
      id,
      seconds: null,
      text: `The access could not be stopped, and ends with its lease: ${failureLine(error)}`,
    };
  }
}

function removed(id: string, began: number): Ending {
  const seconds = (Date.now() - began) / 1000;
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
