import type { IncomingMessage } from 'node:http';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { HostAddress } from '#rules';
import { callerAddressOf } from '../http/caller-address';

const MAX_USER_AGENT_LENGTH = 300;

/** The client of a sign-in, stored with it so that its user can recognise it. */
export interface SignInClient {
  readonly address: HostAddress | null;
  /** the User-Agent header, truncated */
  readonly userAgent: string | null;
}

/** Handler parameter: the client that signs in. */
export const FromClient = createParamDecorator((_: unknown, context: ExecutionContext): SignInClient => {
  const request = context.switchToHttp().getRequest<IncomingMessage>();
  return {
    address: callerAddressOf(request),
    userAgent: request.headers['user-agent']?.slice(0, MAX_USER_AGENT_LENGTH) ?? null,
  };
});
