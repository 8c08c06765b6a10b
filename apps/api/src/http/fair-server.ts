import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { isWithin, parseHost, rateLimitBuckets, TooBusy, type HostAddress } from '#rules';
import { errorBodyOf } from '../errors/error-body';
import { failureOf } from '../errors/failure';
import { callerAddressOf } from './caller-address';
import { RequestTurns } from './request-turns';

/** Of one peer that is no trusted proxy. */
const MAX_CONNECTIONS = 1000;

export interface FairnessOptions {
  /** sets a request's caller */
  readonly remember: (request: IncomingMessage, response: unknown, next: () => void) => void;
  readonly trustedProxies: readonly string[];
  readonly turns?: RequestTurns;
  readonly maxConnections?: number;
}

/** Takes requests of one client address in turn with those of others, and bounds its connections. Before anything is parsed. */
export function serveInTurn(
  server: Server,
  { remember, trustedProxies, turns = new RequestTurns(), maxConnections = MAX_CONNECTIONS }: FairnessOptions,
): void {
  const [handle] = server.listeners('request') as [RequestListener];
  server.removeAllListeners('request');
  server.on('request', (request, response) => {
    remember(request, response, () => undefined);
    const isTaken = turns.take(siteOf(callerAddressOf(request)), response, () =>
      handle.call(server, request, response),
    );
    if (!isTaken) refuse(request, response);
  });
  const open = new Map<string, number>();
  server.on('connection', (socket: Socket) => {
    const peer = parseHost((socket.remoteAddress ?? '').split('%', 1)[0]!);
    if (!peer || isWithin(peer.text, trustedProxies)) return;
    const site = siteOf(peer);
    const count = (open.get(site) ?? 0) + 1;
    open.set(site, count);
    socket.once('close', () => {
      const left = open.get(site)! - 1;
      if (left > 0) open.set(site, left);
      else open.delete(site);
    });
    if (count > maxConnections) socket.destroy();
  });
}

/** An IPv4 address, or the /48 of an IPv6 address, all of which one client may have. */
const siteOf = (address: HostAddress | null): string =>
  address === null ? 'unknown' : rateLimitBuckets(address).at(-1)!.name;

function refuse(request: IncomingMessage, response: ServerResponse): void {
  const failure = failureOf(new TooBusy(true));
  const path = (request.url ?? '').replace(/[?#].*/s, '');
  const headers = { ...failure.headers, 'Content-Type': 'application/json', Connection: 'close' };
  response.writeHead(failure.status, headers).end(JSON.stringify(errorBodyOf(failure, path, new Date())));
}
