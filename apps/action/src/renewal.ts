import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Access } from './state';

/** What the renewer is told through its standard input. */
export interface RenewalTask extends Pick<Access, 'url' | 'sessions' | 'notesFile'> {
  readonly leaseSeconds: number;
  /** the process that runs the job; 0 or 1: not known, as in a container */
  readonly runnerPid: number;
}

/**
 * All that the renewer gets of the environment. The first lets the runner end it with the job; the others are for TLS,
 * and for sockets on Windows.
 */
const PASSED_ON = [
  'RUNNER_TRACKING_ID',
  'NODE_EXTRA_CA_CERTS',
  'NODE_USE_SYSTEM_CA',
  'SSL_CERT_DIR',
  'SSL_CERT_FILE',
  'SystemRoot',
];

/**
 * Starts a process that renews the sessions after this one has ended. It gets the tokens through its standard input:
 * arguments and environments can be read by other programs.
 * @throws Error of the system when no process can be started
 */
export async function startRenewer({
  url,
  sessions,
  notesFile,
  leaseSeconds,
  runnerPid,
}: RenewalTask): Promise<void> {
  writeFileSync(notesFile, '', { mode: 0o600, flag: 'wx' });
  const task: RenewalTask = { url, sessions, notesFile, leaseSeconds, runnerPid };
  const known = PASSED_ON.flatMap((name) =>
    process.env[name] === undefined ? [] : [[name, process.env[name]]],
  );
  const renewer = spawn(process.execPath, [join(__dirname, 'renewer.js')], {
    detached: true,
    windowsHide: true,
    stdio: ['pipe', 'ignore', 'ignore'],
    env: Object.fromEntries(known) as NodeJS.ProcessEnv,
  });
  await once(renewer, 'spawn');
  renewer.stdin.end(JSON.stringify(task));
  await once(renewer.stdin, 'finish');
  renewer.unref();
}
