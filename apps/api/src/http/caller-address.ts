import type { IncomingMessage } from 'node:http';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { callerAddress, DEFAULT_TRUSTED_PROXIES, privatePeer, type HostAddress } from '#rules';

const UNNAMED_PROXY =
  'X-Forwarded-For of this peer is ignored: TRUSTED_PROXIES is not set. If it is your reverse proxy, set TRUSTED_PROXIES to its address or network';

const addresses = new WeakMap<object, HostAddress | null>();

const oneLine = (header: string | string[] | undefined): string | undefined =>
  Array.isArray(header) ? header.join(',') : header;

/**
 * Express middleware: determines each request's caller, once.
 * @param trustedProxies CIDRs whose forwarding headers are trusted; undefined: nobody configured any
 * @param warn called once, for the first private peer that sends X-Forwarded-For while none are configured
 */
export function rememberCallerAddress(
  trustedProxies: readonly string[] | undefined,
  warn: (warning: { peer: string; msg: string }) => void,
): (request: IncomingMessage, response: unknown, next: () => void) => void {
  const trusted = trustedProxies ?? DEFAULT_TRUSTED_PROXIES;
  let isTold = trustedProxies !== undefined;
  return (request, _response, next) => {
    const { headers, socket } = request;
    const forwardedFor = oneLine(headers['x-forwarded-for']);
    const peer = socket.remoteAddress;
    const address = callerAddress({ peer, forwardedFor, realIp: oneLine(headers['x-real-ip']) }, trusted);
    addresses.set(request, address);
    if (!isTold && forwardedFor !== undefined) {
      const proxy = privatePeer(peer);
      if (proxy !== null) {
        isTold = true;
        warn({ peer: proxy, msg: UNNAMED_PROXY });
      }
    }
    next();
  };
}

/** Where a request comes from; null when its connection was gone before anybody looked. */
export const callerAddressOf = (request: IncomingMessage): HostAddress | null =>
  addresses.get(request) ?? null;

/** Handler parameter: where the request comes from (`HostAddress | null`). */
export const CallerAddress = createParamDecorator(
  (_: unknown, context: ExecutionContext): HostAddress | null =>
    callerAddressOf(context.switchToHttp().getRequest<IncomingMessage>()),
);
