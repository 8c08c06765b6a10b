import { SetMetadata, type ExecutionContext, type Type } from '@nestjs/common';
import { Reflector } from '@nestjs/core';

const ALLOWED_WHILE_SUSPENDED = 'drawbridge:allowed-while-suspended';
/** They read, or remove. */
const HARMLESS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'DELETE']);

/**
 * Beside a policy: a suspended organization may call the route. Without it, a route that changes something answers 403 to
 * them, unless it is a DELETE. Where it depends on the body whether the route opens or widens anything, its service asks
 * `refuseSuspended`.
 */
export const AllowedWhileSuspended = (): ClassDecorator & MethodDecorator =>
  SetMetadata(ALLOWED_WHILE_SUSPENDED, true);

const reflector = new Reflector();

/** @param method of HTTP, in capitals */
export function isAllowedWhileSuspended(
  method: string,
  handler: ReturnType<ExecutionContext['getHandler']>,
  controller: Type,
): boolean {
  if (HARMLESS.has(method)) return true;
  return (
    reflector.getAllAndOverride<boolean | undefined>(ALLOWED_WHILE_SUSPENDED, [handler, controller]) ?? false
  );
}

export const SUSPENDED_MESSAGE =
  'The organization is suspended: it can read, stop and remove, and not open or widen anything';
