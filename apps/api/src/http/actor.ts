import type { IncomingMessage } from 'node:http';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { principalOfRequest, type Principal } from '#guards';
import type { HostAddress } from '#rules';
import { callerOfRequest } from './caller-address';

/** The principal and the address of an authenticated request. */
export interface Actor {
  readonly principal: Principal;
  /** null when the connection was closed before the address was read */
  readonly address: HostAddress | null;
  /** what was seen in place of an address that may be allowed somewhere; null: it may be */
  readonly unusable: string | null;
}

/** Handler parameter (`Actor`) for non-public routes. @throws Error on a public route */
export const CurrentActor = createParamDecorator((_: unknown, context: ExecutionContext): Actor => {
  const request = context.switchToHttp().getRequest<IncomingMessage>();
  const principal = principalOfRequest(request);
  if (!principal) throw new Error('A public route has no principal');
  return { principal, ...callerOfRequest(request) };
});
