import type { IncomingMessage } from 'node:http';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { callerAddress, DEFAULT_TRUSTED_PROXIES, privatePeer, type HostAddress } from '#rules';

const UNTRUSTED_PROXY_WARNING =
  'X-Forwarded-For of this peer is ignored: TRUSTED_PROXIES is not set. If it is your reverse proxy, set TRUSTED_PROXIES to its address or network';

const addresses = new WeakMap<object, HostAddress | null>();

const oneLine = (header: string | string[] | undefined): string | undefined =>
  Array.isArray(header) ? header.join(',') : header;

/**
 * Express middleware: determines the caller's address once per request.
 * @param trustedProxies CIDRs whose forwarding headers are trusted; undefined: not configured
 * @param warn called once, for the first private peer that sends X-Forwarded-For while trustedProxies is not configured
 */
export function rememberCallerAddress(
  trustedProxies: readonly string[] | undefined,
  warn: (warning: { peer: string; msg: string }) => void,
): (request: IncomingMessage, response: unknown, next: () => void) => void {
  const trusted = trustedProxies ?? DEFAULT_TRUSTED_PROXIES;
  let hasWarned = trustedProxies !== undefined;
  return (request, _response, next) => {
    const { headers, socket } = request;
    const forwardedFor = oneLine(headers['x-forwarded-for']);
    const peer = socket.remoteAddress;
    const address = callerAddress({ peer, forwardedFor, realIp: oneLine(headers['x-real-ip']) }, trusted);
    addresses.set(request, address);
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

/** The caller's address; null when the connection was closed before it was read. */
export const callerAddressOf = (request: IncomingMessage): HostAddress | null =>
  addresses.get(request) ?? null;

/** Handler parameter: the caller's address (`HostAddress | null`). */
export const CallerAddress = createParamDecorator(
  (_: unknown, context: ExecutionContext): HostAddress | null =>
    callerAddressOf(context.switchToHttp().getRequest<IncomingMessage>()),
);
