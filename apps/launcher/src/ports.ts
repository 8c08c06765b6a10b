import { createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { codeOf } from './processes';

const PROBE_INTERVAL_MS = 100;

/** Another program may use a single address: both must be free. Undefined: every address. */
const HOSTS = [undefined, '127.0.0.1'] as const;

/**
 * Checks that a port can be listened on.
 * @param variable the variable that sets the port, for the error message
 * @param timeoutMs how long to wait for a port that is about to be released
 * @returns the port; for 0 a free one
 * @throws Error with what to do
 */
export async function claimPort(variable: string, port: number, timeoutMs = 0): Promise<number> {
  if (port === 0) return freePort();
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const code = await listenErrorCode(port);
    if (code === undefined) return port;
    if (code !== 'EADDRINUSE') throw new Error(`Port ${port} cannot be used (${code}): ${advice(variable)}`);
    if (Date.now() >= deadline) {
      throw new Error(`Port ${port} is used by another program: ${advice(variable, port + 1)}`);
    }
    await delay(PROBE_INTERVAL_MS);
  }
}

const advice = (variable: string, example = 8080): string =>
  `stop that program or set ${variable} to a free port, for example\n\n  ${variable}=${example} npm start`;

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

function listenOnce(port: number, host: string | undefined): Promise<number> {
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
