import type { AccessRequest } from '../access/held-access';
import type { ConnectionOptions } from '../profiles/connection';

/** Options of the commands that hold access while they work. */
export interface AccessOptions extends ConnectionOptions {
  readonly resource: readonly string[];
  readonly hours?: number;
  readonly lease: number;
  readonly addresses: 'observed' | 'all';
  readonly timeout: number;
  readonly allowPartial?: boolean;
}

export const requestOf = (
  purpose: string,
  ids: readonly string[],
  { hours, lease, addresses, timeout, allowPartial = false }: AccessOptions,
): AccessRequest => ({
  purpose: `cli-${purpose}`,
  resourceIds: ids,
  hours,
  leaseSeconds: lease,
  addresses,
  timeoutMs: 1000 * timeout,
  allowPartial,
});
