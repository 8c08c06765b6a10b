import { SUSPENDED_MESSAGE, type Principal } from '#guards';
import { forbidden } from './api-error';

/**
 * For routes that are allowed while suspended, except for requests that open or widen access.
 * @throws ApiError 403 when the organization is suspended
 */
export function refuseSuspended({ suspended }: Principal): void {
  if (suspended) throw forbidden(SUSPENDED_MESSAGE);
}
