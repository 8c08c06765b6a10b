import { lockdownMessage, type Principal } from '#guards';
import { forbidden } from './api-error';

/**
 * For requests that give or keep access. The database refuses a start that overtakes a lockdown.
 * @throws ApiError 403 when the organization or the user is locked down, with the reason and who may lift it
 */
export function refuseLockedDown({ lockdown }: Principal): void {
  if (lockdown) throw forbidden(lockdownMessage(lockdown));
}
