import * as http from 'node:http';
import * as https from 'node:https';
import { text } from 'node:stream/consumers';

export interface Request {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** of a POST; null: a GET */
  readonly content: string | null;
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
export function exchange(request: Request, isRepeated = false): Promise<Response> {
  const { url, headers, content, signal } = request;
  const { module, agent } = url.protocol === 'https:' ? SECURE : PLAIN;
  const method = content === null ? 'GET' : 'POST';
  return new Promise((resolve, reject) => {
    const outgoing = module.request(url, { method, headers, agent, signal }, (response) => {
      text(response).then((read) => resolve({ status: response.statusCode ?? 0, text: read }), reject);
    });
    outgoing.on('error', (error: NodeJS.ErrnoException) => {
      // the server may have just closed a keep-alive connection: retry once on a new one
      const isStale = outgoing.reusedSocket && error.code === 'ECONNRESET' && !isRepeated;
      if (isStale) resolve(exchange(request, true));
      else reject(error);
    });
    outgoing.end(content);
  });
}
