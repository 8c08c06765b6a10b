import type { Tx } from '#entities';
import { addressesIn, type IpVersion, type OrganizationId } from '#rules';
import type { StaticIpRuleStore } from '#tenant-store';
import { unprocessable } from '../errors/api-error';
import type { StaticAddress } from './static-address';

const BITS: Readonly<Record<IpVersion, number>> = { 4: 32, 6: 128 };

/**
 * Refuses a range with which all static ranges of a resource together would be wider than one range may be: a hundred
 * of the widest would open it to everyone. The caller has locked the organization's ranges.
 * @param totalPrefix how wide they may be together, as the prefix of one range
 * @throws ApiError 422 naming the resource and the limit
 */
export async function refuseTooWideTogether(
  rules: StaticIpRuleStore,
  tx: Tx,
  organization: OrganizationId,
  { version, text }: Pick<StaticAddress, 'version' | 'text'>,
  resourceIds: readonly string[],
  totalPrefix: Readonly<Record<IpVersion, number>>,
): Promise<void> {
  const most = 2n ** BigInt(BITS[version] - totalPrefix[version]);
  const standing = await rules.ranges(tx, organization, version, resourceIds);
  const full = standing.find(({ ranges }) => addressesIn([...ranges, text]) > most);
  // a resource without a range has none in the list
  if (!full && addressesIn([text]) <= most) return;
  const where = full ? `the resource "${full.resourceName}"` : 'a resource';
  throw unprocessable(
    `ipAddress would open more than a /${totalPrefix[version]} on ${where}: its static IPv${version} ranges may be ` +
      'no wider together. Give a narrower range, or delete another one first',
  );
}
