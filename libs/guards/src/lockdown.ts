import { SetMetadata } from '@nestjs/common';
import type { Lockdown } from '#rules';
import { reflector, type Route } from './route';

const ALLOWED_WHILE_LOCKED_DOWN = 'drawbridge:allowed-while-locked-down';
const READING: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * In addition to a policy: a user who is locked down may call the route. Without it, every route that changes something
 * answers 403 to that user and to keys, CI jobs and session tokens that act as it. For what ends access, and the user's own
 * password and second factor.
 */
export const AllowedWhileLockedDown = (): ClassDecorator & MethodDecorator =>
  SetMetadata(ALLOWED_WHILE_LOCKED_DOWN, true);

/** @param method HTTP method in capitals */
export const isAllowedWhileLockedDown = (method: string, ...route: Route): boolean =>
  READING.has(method) ||
  (reflector.getAllAndOverride<boolean | undefined>(ALLOWED_WHILE_LOCKED_DOWN, route) ?? false);

/** Why a request is refused in a lockdown, and who may lift it. */
export function lockdownMessage({ scope, declaredBy, declaredAt, reason }: Lockdown): string {
  const [who, route] =
    scope === 'ORGANIZATION'
      ? ['The organization is', 'DELETE /organization/lockdown']
      : ['You are', 'DELETE /users/{id}/lockdown'];
  return `${who} locked down by ${declaredBy} since ${declaredAt}: ${reason}. Another administrator lifts it with ${route}`;
}
