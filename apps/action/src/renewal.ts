import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ClosingTask, startBackground } from '#client';
import type { Access } from './state';

/** What the renewer gets through its standard input. */
export interface RenewalTask extends Pick<Access, 'url' | 'sessions' | 'notesFile' | 'leaseSeconds'> {
  /** the process that runs the job; 0 or 1: not known, as in a container */
  readonly runnerPid: number;
}

/** All that processes in the background get of the environment: for TLS, and for sockets on Windows. */
const PASSED_ON = [
  'NODE_EXTRA_CA_CERTS',
  'NODE_USE_SYSTEM_CA',
  'SSL_CERT_DIR',
  'SSL_CERT_FILE',
  'SystemRoot',
];

/** By this the runner finds what a job has left running, and ends it. */
const OF_THE_JOB = 'RUNNER_TRACKING_ID';

/**
 * Starts a process that renews the sessions after this one has ended.
 * @throws Error of the system when no process can be started
 */
export async function startRenewer(access: Access, runnerPid: number): Promise<void> {
  const { url, sessions, notesFile, leaseSeconds } = access;
  writeFileSync(notesFile, '', { mode: 0o600, flag: 'wx' });
  const task: RenewalTask = { url, sessions, notesFile, leaseSeconds, runnerPid };
  await startBackground([join(__dirname, 'renewer.js')], passedOn(OF_THE_JOB, ...PASSED_ON), task);
}

/** Starts a process that ends the sessions after this one has ended, and the job. */
export const startCloser = (task: ClosingTask): ReturnType<typeof startBackground> =>
  startBackground([join(__dirname, 'closer.js')], passedOn(...PASSED_ON), task);

const passedOn = (...names: readonly string[]): NodeJS.ProcessEnv =>
  Object.fromEntries(
    names.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])),
  );
