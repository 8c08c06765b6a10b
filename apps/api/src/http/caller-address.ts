import type { IncomingMessage } from 'node:http';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { callerAddress, type HostAddress } from '#rules';

const addresses = new WeakMap<object, HostAddress | null>();

const oneLine = (header: string | string[] | undefined): string | undefined =>
  Array.isArray(header) ? header.join(',') : header;

/**
 * Express middleware: finds out where each request comes from, once.
 * @param trustedProxies CIDRs whose forwarding headers are believed
 */
export const rememberCallerAddress =
  (trustedProxies: readonly string[]) =>
  (request: IncomingMessage, _response: unknown, next: () => void): void => {
    const { headers, socket } = request;
    const address = callerAddress(
      {
        peer: socket.remoteAddress,
        forwardedFor: oneLine(headers['x-forwarded-for']),
        realIp: oneLine(headers['x-real-ip']),
      },
      trustedProxies,
    );
    addresses.set(request, address);
    next();
  };

/** Where a request comes from; null when its connection was gone before anybody looked. */
export const callerAddressOf = (request: IncomingMessage): HostAddress | null =>
  addresses.get(request) ?? null;

/** Handler parameter: where the request comes from (`HostAddress | null`). */
export const CallerAddress = createParamDecorator(
  (_: unknown, context: ExecutionContext): HostAddress | null =>
    callerAddressOf(context.switchToHttp().getRequest<IncomingMessage>()),
);
