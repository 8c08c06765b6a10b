import * as http from 'node:http';
import * as https from 'node:https';
import { text } from 'node:stream/consumers';

export interface Request {
  readonly method: 'GET' | 'POST';
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** aborts the request */
  readonly signal: AbortSignal;
}

export interface Response {
  readonly status: number;
  readonly text: string;
}

/**
 * Each address of the server gets the time of a slow link: Node.js goes on to the next one after a quarter of a second, and
 * never comes back.
 */
const OPTIONS = { keepAlive: true, autoSelectFamilyAttemptTimeout: 2_000 };
const SECURE = { module: https, agent: new https.Agent(OPTIONS) };
const PLAIN = { module: http, agent: new http.Agent(OPTIONS) };

/**
 * Sends one request, without following redirects. It does not use fetch: when a connection is accepted and closed at
 * once, as by a load balancer without a backend, fetch hangs until it is aborted.
 * @throws Error of the network
 */
export async function exchange(request: Request): Promise<Response> {
  try {
    return await attempt(request);
  } catch (error) {
    // the server may have just closed a keep-alive connection: retry once on a new one
    if (error instanceof StaleConnectionError) return attempt(request);
    throw error;
  }
}

class StaleConnectionError extends Error {}

function attempt({ method, url, headers, body, signal }: Request): Promise<Response> {
  const { module, agent } = url.protocol === 'https:' ? SECURE : PLAIN;
  return new Promise((resolve, reject) => {
    const outgoing = module.request(url, { method, headers, agent, signal }, (response) => {
      text(response).then((read) => resolve({ status: response.statusCode ?? 0, text: read }), reject);
    });
    outgoing.on('error', (error: NodeJS.ErrnoException) => {
      const isStale = outgoing.reusedSocket && error.code === 'ECONNRESET';
      reject(isStale ? new StaleConnectionError(error.message, { cause: error }) : error);
    });
    outgoing.end(body);
  });
}
