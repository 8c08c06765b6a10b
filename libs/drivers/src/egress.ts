import { Agent as HttpAgent, request as httpRequest, type ClientRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { Duplex } from 'node:stream';
import { connect as connectTls, type ConnectionOptions } from 'node:tls';

export interface EgressAgents {
  readonly http: HttpAgent;
  readonly https: HttpsAgent;
}

/** The proxy opened no connection: nothing was sent to the cloud. */
export const PROXY_FAILED = 'EGRESS_PROXY_FAILED';

// Closes idle connections before the server does: a write on a closing connection has an unknown outcome.
const POOL = { keepAlive: true, maxSockets: 50, maxFreeSockets: 10, timeout: 10_000 } as const;
const CONNECT_TIMEOUT_MS = 5000;
/** Some packages read these, each in its own way: half of a cloud's calls would go through the proxy. */
const UNUSED = /^(https?|all)_proxy$/i;

let agents: EgressAgents = { http: new HttpAgent(POOL), https: new HttpsAgent(POOL) };

/**
 * How every call leaves that this deployment makes on its own account: to clouds, their token services and the payment
 * provider. URLs that tenants name, and the metadata services of the machine, are called without these agents.
 */
export const egressAgents = (): EgressAgents => agents;

/**
 * Sets how calls leave from now on; clients that exist keep their agents.
 * @param proxy URL of an HTTP proxy that lets `CONNECT` through, with its credentials; undefined: directly
 */
export function routeEgress(proxy: string | undefined): void {
  if (proxy === undefined) {
    agents = { http: new HttpAgent(POOL), https: new HttpsAgent(POOL) };
    return;
  }
  const tunnel = (host: string, port: number, done: Done): void =>
    openTunnel(new URL(proxy), host, port, done);
  agents = { http: new HttpTunnel(tunnel), https: new HttpsTunnel(tunnel) };
}

/** Removes the conventional variables of proxies. @returns their names */
export function dropProxyVariables(environment: NodeJS.ProcessEnv): string[] {
  const found = Object.keys(environment).filter((name) => UNUSED.test(name));
  for (const name of found) delete environment[name];
  return found;
}

type Done = (error: Error | null, socket?: Duplex) => void;
type Tunnel = (host: string, port: number, done: Done) => void;
type Options = Parameters<HttpAgent['createConnection']>[0];
type TlsOptions = Parameters<HttpsAgent['createConnection']>[0];

class HttpTunnel extends HttpAgent {
  constructor(private readonly tunnel: Tunnel) {
    super(POOL);
  }

  override createConnection({ host, port }: Options, done: Done): undefined {
    this.tunnel(host ?? '', Number(port), done);
  }
}

class HttpsTunnel extends HttpsAgent {
  constructor(private readonly tunnel: Tunnel) {
    super(POOL);
  }

  override createConnection(options: TlsOptions, done: Done): undefined {
    this.tunnel(options.host ?? '', Number(options.port), (error, socket) =>
      error || !socket ? done(error) : done(null, connectTls({ ...(options as ConnectionOptions), socket })),
    );
  }
}

/** Of our own, because packages for this hand the proxy's refusal to the caller as the cloud's answer: a denial has consequences. */
function openTunnel(proxy: URL, host: string, port: number, done: Done): void {
  const authority = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  const send = proxy.protocol === 'https:' ? httpsRequest : httpRequest;
  const request: ClientRequest = send({
    method: 'CONNECT',
    host: proxy.hostname.replace(/^\[|\]$/g, ''),
    port: proxy.port || (proxy.protocol === 'https:' ? 443 : 80),
    path: authority,
    headers: { host: authority, ...authorization(proxy) },
    agent: false,
    timeout: CONNECT_TIMEOUT_MS,
  });
  request.once('connect', ({ statusCode }, socket) => {
    if (statusCode === 200) return done(null, socket);
    socket.destroy();
    done(failed(`answered ${statusCode}`));
  });
  request.once('response', ({ statusCode }) => request.destroy(failed(`answered ${statusCode}`)));
  request.once('timeout', () => request.destroy(failed('does not answer')));
  request.once('error', (error) => done(failed(`cannot be reached: ${error.message}`)));
  request.end();
}

const failed = (reason: string): Error =>
  Object.assign(new Error(`The egress proxy ${reason}`), { code: PROXY_FAILED });

function authorization({ username, password }: URL): { 'proxy-authorization'?: string } {
  if (username === '') return {};
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { 'proxy-authorization': `Basic ${Buffer.from(pair).toString('base64')}` };
}
