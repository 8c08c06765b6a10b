import { createConnection, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { monotonicMs } from './clock';
import { connectionReason } from './failure';

export interface Endpoint {
  readonly host: string;
  readonly port: number;
}

/** A port that never accepted a connection. */
export class NotReachable extends Error {
  override readonly name = 'NotReachable';
}

const PROBE_MS = 60_000;
const ATTEMPT_MS = 5_000;
const PAUSE_MS = 500;

/** Reads `host:port`, with an IPv6 address in brackets. @returns null for anything else */
export function parseEndpoint(text: string): Endpoint | null {
  const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:[\]]+)):(\d{1,5})$/.exec(text) ?? [];
  const host = bracketed ?? plain;
  return host !== undefined && Number(port) > 0 && Number(port) < 65_536
    ? { host, port: Number(port) }
    : null;
}

/**
 * Connects over TCP until it succeeds, for a minute at most: a rule that the cloud lists is not in effect at once.
 * @throws NotReachable when it never does
 * @throws the signal's reason
 */
export async function reach({ host, port }: Endpoint, signal: AbortSignal): Promise<Socket> {
  const deadline = monotonicMs() + PROBE_MS;
  for (;;) {
    const outcome = await attempt(host, port, signal);
    signal.throwIfAborted();
    if (!(outcome instanceof Error)) return outcome;
    if (monotonicMs() > deadline) {
      const reason = connectionReason(outcome);
      throw new NotReachable(`${host}:${port} was not reachable within ${PROBE_MS / 1000} s: ${reason}`);
    }
    await delay(PAUSE_MS, undefined, { signal });
  }
}

const attempt = (host: string, port: number, signal: AbortSignal): Promise<Socket | Error> =>
  new Promise((resolve) => {
    const socket = createConnection({ host, port, allowHalfOpen: true, timeout: ATTEMPT_MS });
    const fail = (error: Error): void => {
      signal.removeEventListener('abort', onAbort);
      socket.destroy();
      resolve(error);
    };
    const onAbort = (): void => fail(new Error('given up'));
    signal.addEventListener('abort', onAbort, { once: true });
    socket.once('error', fail);
    socket.once('timeout', () => fail(new Error('no answer (timeout)')));
    socket.once('connect', () => {
      signal.removeEventListener('abort', onAbort);
      socket.removeListener('error', fail);
      socket.setTimeout(0);
      resolve(socket);
    });
  });
