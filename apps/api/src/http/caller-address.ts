import type { IncomingMessage } from 'node:http';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { callerOf, DEFAULT_TRUSTED_PROXIES, privatePeer, type Caller, type HostAddress } from '#rules';

const UNTRUSTED_PROXY_WARNING =
  'X-Forwarded-For of this peer is ignored: TRUSTED_PROXIES is not set. If it is your reverse proxy, set TRUSTED_PROXIES to its address or network';

const callers = new WeakMap<object, Caller>();
const UNREAD: Caller = { address: null, unusable: null };

const oneLine = (header: string | string[] | undefined): string | undefined =>
  Array.isArray(header) ? header.join(',') : header;

export interface CallerOptions {
  /** CIDRs whose forwarding headers are trusted; undefined: not configured */
  readonly trustedProxies: readonly string[] | undefined;
  /** see `callerOf` */
  readonly refuseLocal: boolean;
}

/**
 * Determines the caller, once per request.
 * @param warn called once, for the first private peer that sends X-Forwarded-For while trustedProxies is not configured
 */
export function rememberCallerAddress(
  { trustedProxies, refuseLocal }: CallerOptions,
  warn: (warning: { peer: string; msg: string }) => void,
): (request: IncomingMessage, response: unknown, next: () => void) => void {
  const trusted = trustedProxies ?? DEFAULT_TRUSTED_PROXIES;
  let hasWarned = trustedProxies !== undefined;
  return (request, _response, next) => {
    const { headers, socket } = request;
    const forwardedFor = oneLine(headers['x-forwarded-for']);
    const realIp = oneLine(headers['x-real-ip']);
    const peer = socket.remoteAddress;
    const given = { peer, forwardedFor, forwarded: headers.forwarded, realIp };
    callers.set(request, callerOf(given, trusted, { refuseLocal }));
    if (!hasWarned && forwardedFor !== undefined) {
      const proxy = privatePeer(peer);
      if (proxy !== null) {
        hasWarned = true;
        warn({ peer: proxy, msg: UNTRUSTED_PROXY_WARNING });
      }
    }
    next();
  };
}

export const callerOfRequest = (request: IncomingMessage): Caller => callers.get(request) ?? UNREAD;

/** The address that is counted and recorded; null when the connection was closed before it was read. */
export const callerAddressOf = (request: IncomingMessage): HostAddress | null =>
  callerOfRequest(request).address;

/** Handler parameter: the caller's address (`HostAddress | null`). */
export const CallerAddress = createParamDecorator(
  (_: unknown, context: ExecutionContext): HostAddress | null =>
    callerAddressOf(context.switchToHttp().getRequest<IncomingMessage>()),
);

/** Handler parameter: the caller (`Caller`). */
export const CurrentCaller = createParamDecorator((_: unknown, context: ExecutionContext): Caller =>
  callerOfRequest(context.switchToHttp().getRequest<IncomingMessage>()),
);

/** What to tell a caller whose address is unusable. */
export const unusableMessage = (seen: string): string =>
  `Your address could not be detected: this service saw ${seen}`;
