import { Agent as HttpAgent, request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import type { TenantHosts } from './tenant-hosts';
import type { TenantUrl } from './tenant-url';

export interface TenantRequest {
  readonly method: string;
  /** goes after the URL's own path; begins with a slash */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface TenantAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** No answer came, or none that may be read. */
export class NoTenantAnswer extends Error {
  /** @param sent false: surely nothing of the request left */
  constructor(
    readonly sent: boolean,
    cause: unknown,
  ) {
    super('There was no answer', { cause });
    this.name = 'NoTenantAnswer';
  }
}

const MAX_ANSWER_BYTES = 4_000_000;
const CONNECT_MS = 1000;

/**
 * Connections to where a tenant's URL led when it was looked up, and nowhere else: a name that leads elsewhere a moment
 * later is not asked again. Follows no redirect, reads at most 4 MB, always checks certificates.
 */
export class PinnedConnection {
  private readonly agent: HttpAgent;

  private constructor(
    private readonly url: TenantUrl,
    addresses: readonly string[],
    private readonly signal: AbortSignal,
  ) {
    const settings = {
      keepAlive: true,
      maxSockets: 1,
      autoSelectFamilyAttemptTimeout: CONNECT_MS,
      lookup: answerWith(addresses),
    };
    this.agent = url.isSecure ? new HttpsAgent(settings) : new HttpAgent(settings);
  }

  /**
   * Looks the host up, once.
   * @param signal ends the look-up, and every request
   * @throws ForbiddenHost, or the resolver's error
   */
  static async open(url: TenantUrl, hosts: TenantHosts, signal: AbortSignal): Promise<PinnedConnection> {
    return new PinnedConnection(url, await hosts.addresses(url.hostname, url.port, signal), signal);
  }

  /** @throws NoTenantAnswer */
  ask({ method, path, headers, body }: TenantRequest): Promise<TenantAnswer> {
    const { url, agent, signal } = this;
    const connected = url.isSecure ? 'secureConnect' : 'connect';
    return new Promise((resolve, reject) => {
      let sent = false;
      const fail = (error: unknown): void => reject(new NoTenantAnswer(sent, error));
      const request = (url.isSecure ? httpsRequest : httpRequest)({
        hostname: url.hostname,
        port: url.port,
        path: `${url.path}${path}`,
        method,
        agent,
        signal,
        headers: { ...headers, ...(body !== undefined && { 'content-length': Buffer.byteLength(body) }) },
      });
      request.once('socket', (socket) => {
        sent = request.reusedSocket;
        socket.once(connected, () => (sent = true));
      });
      request.once('error', fail);
      request.once('response', (response) => {
        const chunks: Buffer[] = [];
        let length = 0;
        response.on('data', (chunk: Buffer) => {
          length += chunk.length;
          chunks.push(chunk);
          if (length > MAX_ANSWER_BYTES) response.destroy(new Error('The answer is too long'));
        });
        response.once('error', fail);
        response.once('close', () => fail(new Error('The answer ended early')));
        response.once('end', () => {
          const text = Buffer.concat(chunks).toString('utf8');
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text });
        });
      });
      request.end(body);
    });
  }

  close(): void {
    this.agent.destroy();
  }
}

/** A look-up that asks nobody. */
const answerWith = (addresses: readonly string[]): LookupFunction => {
  const found = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_hostname, { all, family }, callback) => {
    if (all) return callback(null, found);
    const fitting = found.find((one) => !family || one.family === family) ?? found[0]!;
    callback(null, fitting.address, fitting.family);
  };
};
