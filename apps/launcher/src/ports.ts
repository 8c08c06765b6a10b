import { createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { codeOf } from './processes';

const PROBE_INTERVAL_MS = 100;
const MAX_PORT = 65_535;

/** Another program may use a single address: both must be free. Undefined: every address. */
const HOSTS = [undefined, '127.0.0.1'] as const;

/** What a variable asks for: a port and those after it; 0: any free ones. */
export interface PortWish {
  readonly variable: string;
  readonly port: number;
  readonly count: number;
}

/**
 * Checks that ports can be listened on.
 * @param timeoutMs how long to wait for ports that are about to be released
 * @param kept what the advice repeats of the command line, such as `DATA_DIR=elsewhere`
 * @returns the ports of each wish
 * @throws Error that names every port that cannot be used, with others that are free now
 */
export async function claimPorts(
  wishes: readonly PortWish[],
  timeoutMs = 0,
  kept: readonly string[] = [],
): Promise<number[][]> {
  const deadline = Date.now() + timeoutMs;
  const problems: string[] = [];
  const claimed: number[][] = [];
  for (const { variable, port, count } of wishes) {
    const ports = Array.from({ length: count }, (_, index) => port + index);
    for (const each of port === 0 ? [] : ports) {
      const code = await failureOf(each, deadline);
      if (code === 'EADDRINUSE') problems.push(`port ${each} (${variable}) is in use`);
      else if (code !== undefined) problems.push(`port ${each} (${variable}) cannot be used: ${code}`);
    }
    claimed.push(port === 0 ? await Promise.all(ports.map(freePort)) : ports);
  }
  if (problems.length === 0) return claimed;
  throw new Error(
    `${problems.join(', ').replace('port', 'Port')}.\n` +
      `Stop what listens there, or choose ports that are free now:\n\n  ${await startCommand(wishes, kept)}`,
  );
}

/** The command that starts on ports which are free now, as near as possible to those wished for. */
export async function startCommand(wishes: readonly PortWish[], kept: readonly string[]): Promise<string> {
  const chosen = new Set<number>();
  const variables = [...kept];
  for (const { variable, port, count } of wishes) {
    if (port === 0) continue;
    const first = await nearestFree(port, count, chosen);
    for (let index = 0; index < count; index++) chosen.add(first + index);
    variables.push(`${variable}=${first}`);
  }
  return [...variables, 'npm start'].join(' ');
}

/** The first of `count` free ports in a row, from `port` on, then among those that no privilege is needed for. */
async function nearestFree(port: number, count: number, chosen: ReadonlySet<number>): Promise<number> {
  for (let first = port; first + count - 1 <= MAX_PORT; first++) {
    const row = Array.from({ length: count }, (_, index) => first + index);
    const isFree = async (each: number): Promise<boolean> =>
      !chosen.has(each) && (await listenErrorCode(each)) === undefined;
    if ((await Promise.all(row.map(isFree))).every(Boolean)) return first;
  }
  return nearestFree(1024, count, chosen);
}

/** @returns why a port cannot be listened on, at the deadline at the latest */
async function failureOf(port: number, deadline: number): Promise<string | undefined> {
  for (;;) {
    const code = await listenErrorCode(port);
    if (code !== 'EADDRINUSE' || Date.now() >= deadline) return code;
    await delay(PROBE_INTERVAL_MS);
  }
}

async function listenErrorCode(port: number): Promise<string | undefined> {
  for (const host of HOSTS) {
    try {
      await listenOnce(port, host);
    } catch (error) {
      return codeOf(error);
    }
  }
  return undefined;
}

const freePort = (): Promise<number> => listenOnce(0, '127.0.0.1');

/** @returns the port that was free. @throws Error when it is taken */
export function listenOnce(port: number, host: string | undefined): Promise<number> {
  const server = createServer();
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, ...(host !== undefined && { host }) }, () => {
      const address = server.address();
      const taken = typeof address === 'object' && address ? address.port : port;
      server.close(() => resolve(taken));
    });
  });
}
