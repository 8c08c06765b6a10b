import { SUSPENDED_MESSAGE, type Principal } from '#guards';
import { forbidden } from './api-error';

/**
 * For what only some bodies of a route open or widen.
 * @throws ApiError 403 when the organization is suspended
 */
export function refuseSuspended({ suspended }: Principal): void {
  if (suspended) throw forbidden(SUSPENDED_MESSAGE);
}
