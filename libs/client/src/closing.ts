import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { sendingFetch } from './sending';

/** What ends access, for a process that outlives the one that was to end it. */
export interface ClosingTask {
  /** without `/api/v1` */
  readonly url: string;
  readonly requests: readonly ClosingRequest[];
  /** how long there may be anything to end */
  readonly withinMs: number;
}

interface ClosingRequest {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** @param token of the session */
export const stopRequest = ({ id, token }: { id: string; token: string }): ClosingRequest => ({
  path: `/api/v1/sessions/${id}/stop`,
  headers: { Authorization: `Session ${token}` },
});

/** Sends each request until it is answered, or nothing is left to end. Never throws: no one reads what it has to say. */
export async function closeAll({ url, requests, withinMs }: ClosingTask): Promise<void> {
  const send = sendingFetch({ credential: null, patienceMs: withinMs });
  const sent = requests.map(({ path, headers, body = null }) =>
    send(new Request(url + path, { method: 'POST', headers, body })),
  );
  await Promise.allSettled(sent);
}

/** Longer than an answer usually takes. The client of an MCP server leaves it four seconds to end. */
const HAND_OVER_MS = 2_000;

/**
 * Waits for what ends access. When that takes long, it is left to another process as well, since this one may be ended at
 * any time; the other one is ended when it is done here.
 * @param handOver starts the other process; null: there is none. It never throws
 */
export async function closing<T>(work: Promise<T>, handOver: () => Promise<ChildProcess | null>): Promise<T> {
  const settled = new AbortController();
  const settle = (): void => settled.abort();
  work.then(settle, settle);
  const isLong = await delay(HAND_OVER_MS, true, { signal: settled.signal }).catch(() => false);
  if (!isLong) return work;
  const other = await handOver();
  const result = await work;
  other?.kill();
  return result;
}

/**
 * Starts a program that outlives this one. It gets the task through its standard input: arguments and environments can be
 * read by other programs.
 * @throws Error of the system when no process can be started
 */
export async function startBackground(
  program: readonly string[],
  environment: NodeJS.ProcessEnv,
  task: object,
): Promise<ChildProcess> {
  const { spawn } = await import('node:child_process');
  // it keeps no folder in use
  const how = { cwd: '/', detached: true, env: environment, windowsHide: true };
  const child = spawn(process.execPath, program, { ...how, stdio: ['pipe', 'ignore', 'ignore'] });
  await once(child, 'spawn');
  child.stdin.end(JSON.stringify(task));
  await once(child.stdin, 'finish');
  child.unref();
  return child;
}
