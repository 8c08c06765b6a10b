import { Agent as HttpAgent, request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import type { TenantHosts } from './tenant-hosts';
import type { TenantUrl } from './tenant-url';

export interface TenantRequest {
  readonly method: string;
  /** appended to the URL's path; starts with a slash */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface TenantResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** The response is missing or unreadable. */
export class NoTenantResponse extends Error {
  /** @param sent false: nothing was sent */
  constructor(
    readonly sent: boolean,
    cause: unknown,
  ) {
    super('There was no answer', { cause });
    this.name = 'NoTenantResponse';
  }
}

const MAX_RESPONSE_BYTES = 4_000_000;
const CONNECT_TIMEOUT_MS = 1000;

/**
 * Connects only to the addresses that a tenant's URL resolved to at first: the name is not resolved again, which
 * prevents DNS rebinding. Follows no redirects, limits the response's length, always verifies certificates.
 */
export class PinnedConnection {
  private readonly agent: HttpAgent;

  private constructor(
    private readonly url: TenantUrl,
    addresses: readonly string[],
    private readonly signal: AbortSignal,
    private readonly maxBytes: number,
  ) {
    const settings = {
      keepAlive: true,
      maxSockets: 1,
      autoSelectFamilyAttemptTimeout: CONNECT_TIMEOUT_MS,
      lookup: fixedLookup(addresses),
    };
    this.agent = url.isSecure ? new HttpsAgent(settings) : new HttpAgent(settings);
  }

  /**
   * Resolves the host once.
   * @param signal aborts the lookup and every request
   * @param maxBytes of a response's body; a longer one is an error
   * @throws ForbiddenHost, or the resolver's error
   */
  static async open(
    url: TenantUrl,
    hosts: TenantHosts,
    signal: AbortSignal,
    maxBytes = MAX_RESPONSE_BYTES,
  ): Promise<PinnedConnection> {
    const addresses = await hosts.addresses(url.hostname, url.port, signal);
    return new PinnedConnection(url, addresses, signal, maxBytes);
  }

  /** @throws NoTenantResponse */
  request({ method, path, headers, body }: TenantRequest): Promise<TenantResponse> {
    const { url, agent, signal, maxBytes } = this;
    const connected = url.isSecure ? 'secureConnect' : 'connect';
    return new Promise((resolve, reject) => {
      let sent = false;
      const fail = (error: unknown): void => reject(new NoTenantResponse(sent, error));
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
          if (length > maxBytes) response.destroy(new Error('The answer is too long'));
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

const fixedLookup = (addresses: readonly string[]): LookupFunction => {
  const found = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_hostname, { all, family }, callback) => {
    if (all) return callback(null, found);
    const fitting = found.find((one) => !family || one.family === family) ?? found[0]!;
    callback(null, fitting.address, fitting.family);
  };
};
