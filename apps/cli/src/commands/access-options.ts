import { requestedResources } from '#client';
import type { AccessRequest } from '../access/held-access';

/** Options of the commands that hold access while they work. */
export interface AccessOptions {
  readonly resource: readonly string[];
  readonly hours?: number;
  readonly lease: number;
  readonly addresses: 'observed' | 'all';
  readonly timeout: number;
  readonly allowPartial?: boolean;
}

export const requestOf = (
  purpose: string,
  { resource, hours, lease, addresses, timeout, allowPartial = false }: AccessOptions,
): AccessRequest => ({
  purpose: `cli-${purpose}`,
  resources: requestedResources(resource),
  hours,
  leaseSeconds: lease,
  addresses,
  timeoutMs: 1000 * timeout,
  allowPartial,
});
