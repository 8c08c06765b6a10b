import { requestedResources } from '#client';
import { groundsOf, type Grounds } from '../access/approval';
import type { AccessRequest } from '../access/held-access';

/** Options of the commands that hold access while they work. */
export interface AccessOptions extends Grounds {
  readonly resource: readonly string[];
  readonly hours?: number;
  readonly lease: number;
  readonly addresses: 'observed' | 'all';
  readonly timeout: number;
  readonly allowPartial?: boolean;
}

export const requestOf = (
  purpose: string,
  { resource, hours, lease, addresses, timeout, allowPartial = false, ...grounds }: AccessOptions,
): AccessRequest => ({
  purpose: `cli-${purpose}`,
  resources: requestedResources(resource),
  hours,
  leaseSeconds: lease,
  addresses,
  timeoutMs: 1000 * timeout,
  allowPartial,
  grounds: groundsOf(grounds),
});
