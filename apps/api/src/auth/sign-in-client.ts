import type { IncomingMessage } from 'node:http';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { callerAddressOf } from '../http/caller-address';

const MAX_USER_AGENT_LENGTH = 300;

/** What somebody signs in with: noted with the sign-in, for its owner to recognise it by. */
export interface SignInClient {
  readonly address: string | null;
  /** as the client calls itself */
  readonly userAgent: string | null;
}

/** Handler parameter: the client that signs in. */
export const FromClient = createParamDecorator((_: unknown, context: ExecutionContext): SignInClient => {
  const request = context.switchToHttp().getRequest<IncomingMessage>();
  return {
    address: callerAddressOf(request)?.text ?? null,
    userAgent: request.headers['user-agent']?.slice(0, MAX_USER_AGENT_LENGTH) ?? null,
  };
});
