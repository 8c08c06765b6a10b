import * as http from 'node:http';
import * as https from 'node:https';
import { text } from 'node:stream/consumers';

export interface Request {
  readonly method: 'GET' | 'POST';
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** hangs up */
  readonly signal: AbortSignal;
}

export interface Response {
  readonly status: number;
  readonly text: string;
}

const SECURE = { module: https, agent: new https.Agent({ keepAlive: true }) };
const PLAIN = { module: http, agent: new http.Agent({ keepAlive: true }) };

/**
 * One request and its answer; no redirect is followed. Not by fetch: where a connection is taken and closed at once, as
 * by a load balancer with nothing behind it, fetch says nothing until it is told to end.
 * @throws Error of the network
 */
export async function exchange(request: Request): Promise<Response> {
  try {
    return await attempt(request);
  } catch (error) {
    // a connection that was kept may have been closed at the other end just now
    if (error instanceof KeptConnectionLost) return attempt(request);
    throw error;
  }
}

class KeptConnectionLost extends Error {}

function attempt({ method, url, headers, body, signal }: Request): Promise<Response> {
  const { module, agent } = url.protocol === 'https:' ? SECURE : PLAIN;
  return new Promise((resolve, reject) => {
    const sent = module.request(url, { method, headers, agent, signal }, (response) => {
      text(response).then((read) => resolve({ status: response.statusCode ?? 0, text: read }), reject);
    });
    sent.on('error', (error: NodeJS.ErrnoException) => {
      const isStale = sent.reusedSocket && error.code === 'ECONNRESET';
      reject(isStale ? new KeptConnectionLost(error.message, { cause: error }) : error);
    });
    sent.end(body);
  });
}
