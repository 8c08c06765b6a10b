import type { Tx } from '#entities';
import { addressesIn, type IpVersion, type OrganizationId } from '#rules';
import type { StaticIpRuleStore } from '#tenant-store';
import { unprocessable } from '../errors/api-error';

const BITS: Readonly<Record<IpVersion, number>> = { 4: 32, 6: 128 };

/** A canonical range. */
interface WantedRange {
  readonly version: IpVersion;
  readonly text: string;
  readonly resourceIds: readonly string[];
}

/**
 * Refuses a range when all static ranges of a resource together would exceed the total limit. Without it, many ranges of
 * the maximum width could open a resource to everyone. The caller holds the lock on the organization's ranges.
 * @param totalPrefix the maximum total width, as the prefix of one range
 * @throws ApiError 422 naming the resource and the limit
 */
export async function refuseTooWideInTotal(
  rules: StaticIpRuleStore,
  tx: Tx,
  organization: OrganizationId,
  { version, text, resourceIds }: WantedRange,
  totalPrefix: Readonly<Record<IpVersion, number>>,
): Promise<void> {
  const maxAddresses = 2n ** BigInt(BITS[version] - totalPrefix[version]);
  const existing = await rules.ranges(tx, organization, version, resourceIds);
  const full = existing.find(({ ranges }) => addressesIn([...ranges, text]) > maxAddresses);
  // resources without ranges are not listed
  if (!full && addressesIn([text]) <= maxAddresses) return;
  const where = full ? `the resource "${full.resourceName}"` : 'a resource';
  throw unprocessable(
    `ipAddress would open more than a /${totalPrefix[version]} on ${where}: its static IPv${version} ranges may be ` +
      'no wider together. Give a narrower range, or delete another one first',
  );
}
