import { SetMetadata } from '@nestjs/common';
import { reflector, type Route } from './route';

const ALLOWED_WHILE_SUSPENDED = 'drawbridge:allowed-while-suspended';
/** Methods that read or remove. */
const ALLOWED_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'DELETE']);

/**
 * In addition to a policy: a suspended organization may call the route. Without it, a route that changes something
 * answers 403, unless it is a DELETE. Where the body decides whether the route opens or widens access, its service calls
 * `refuseSuspended`.
 */
export const AllowedWhileSuspended = (): ClassDecorator & MethodDecorator =>
  SetMetadata(ALLOWED_WHILE_SUSPENDED, true);

/** @param method HTTP method in capitals */
export const isAllowedWhileSuspended = (method: string, ...route: Route): boolean =>
  ALLOWED_METHODS.has(method) ||
  (reflector.getAllAndOverride<boolean | undefined>(ALLOWED_WHILE_SUSPENDED, route) ?? false);

export const SUSPENDED_MESSAGE =
  'The organization is suspended: it can read, stop and remove, and not open or widen anything';
