import type { Socket } from 'node:net';
import { type Endpoint, NotReachable, NotReady, parseEndpoint, reach, untilReady } from '#client';
import { CommandFailure, EXIT, usageFailure } from '../exit-codes';

/** Reads `host:port`, with an IPv6 address in brackets. @throws CommandFailure */
export function endpointOf(text: string, option: string): Endpoint {
  const endpoint = parseEndpoint(text);
  if (endpoint) return endpoint;
  throw usageFailure(
    `${option} must be HOST:PORT, not "${text}"`,
    `${option} db.example.com:5432, or [2001:db8::1]:5432`,
  );
}

/** Connects over TCP, for a minute at most. @throws CommandFailure when that never succeeds @throws the signal's reason */
export async function reachOrFail(endpoint: Endpoint, signal: AbortSignal): Promise<Socket> {
  try {
    return await reach(endpoint, signal);
  } catch (error) {
    if (!(error instanceof NotReachable)) throw error;
    const fix = 'check host and port, and whether the resource guards them';
    throw new CommandFailure(EXIT.failed, error.message, fix);
  }
}

/** Runs a command until it succeeds. @throws CommandFailure when it does not in time @throws the signal's reason */
export async function readyOrFail(command: string, seconds: number, signal: AbortSignal): Promise<void> {
  try {
    await untilReady(command, seconds, signal);
  } catch (error) {
    if (!(error instanceof NotReady)) throw error;
    const fix = 'check the command, or give it more time with --ready-seconds';
    throw new CommandFailure(EXIT.failed, error.message, fix);
  }
}
