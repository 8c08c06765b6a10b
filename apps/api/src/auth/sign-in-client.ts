import type { IncomingMessage, ServerResponse } from 'node:http';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { rateLimitBuckets, type HostAddress } from '#rules';
import type { HashClient } from '#secrets';
import { callerAddressOf } from '../http/caller-address';
import { clientDisconnectSignal } from '../http/client-disconnect';
import { isForCookie, type TokenRequest } from './dto/refresh-token-place';

const MAX_USER_AGENT_LENGTH = 300;

/** The client of a sign-in, stored with it so that its user can recognise it. */
export interface SignInClient {
  readonly address: HostAddress | null;
  /** the User-Agent header, truncated */
  readonly userAgent: string | null;
  /** whether its refresh token goes into a cookie */
  readonly isBrowser: boolean;
  readonly disconnected: AbortSignal;
}

/** Hashes for this client: networks take turns, and none is made for a client that is gone. */
export const hashClientOf = ({ address, disconnected }: SignInClient): HashClient => ({
  group: address ? rateLimitBuckets(address)[0]!.name : '',
  disconnected,
});

/** Handler parameter: the client that signs in. */
export const FromClient = createParamDecorator((_: unknown, context: ExecutionContext): SignInClient => {
  const http = context.switchToHttp();
  const request = http.getRequest<IncomingMessage & TokenRequest>();
  return {
    address: callerAddressOf(request),
    userAgent: request.headers['user-agent']?.slice(0, MAX_USER_AGENT_LENGTH) ?? null,
    isBrowser: isForCookie(request),
    disconnected: clientDisconnectSignal(http.getResponse<ServerResponse>()),
  };
});
