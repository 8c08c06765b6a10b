import {
  canonicalCidr,
  REFUSAL_MESSAGES,
  specialRangeIn,
  type AddressPolicy,
  type IpVersion,
  type RangeRefusal,
} from '#rules';
import { unprocessable } from '../errors/api-error';

/** The limits of static IP rules. */
export interface StaticAddressPolicy extends AddressPolicy {
  /** the shortest prefix a range may have, by family */
  readonly minPrefix: Readonly<Record<IpVersion, number>>;
  /** the maximum total width of all ranges of one resource, as the prefix of one range */
  readonly totalPrefix: Readonly<Record<IpVersion, number>>;
}

/** Why a special range is refused. */
const RANGE_REASONS: Readonly<Record<RangeRefusal, string>> = {
  unspecified: 'which stands for no address',
  multicast: 'which is for multicast',
  broadcast: 'which is for broadcasts',
  'link-local': 'which is link-local',
  private: 'which is not public, and this deployment allows public addresses only',
};

/**
 * @returns it canonical: an address alone, or a CIDR range with its host bits cleared
 * @throws ApiError 422 when it is not an address or range, is not allowed, or is too wide
 */
export function staticAddress(given: string, policy: Omit<StaticAddressPolicy, 'totalPrefix'>): string {
  const read = canonicalCidr(given.trim());
  if (!read) throw unprocessable('ipAddress must be an IPv4 or IPv6 address, or a CIDR range');
  const { version, cidr, prefix } = read;
  const network = cidr.slice(0, cidr.indexOf('/'));
  const shortest = policy.minPrefix[version];
  if (prefix < shortest) {
    throw unprocessable(`ipAddress is too wide: a range may be /${shortest} at most, this one is /${prefix}`);
  }
  const isHost = prefix === (version === 4 ? 32 : 128);
  const special = specialRangeIn(cidr, policy.allowPrivate);
  if (special && isHost) throw unprocessable(`ipAddress ${REFUSAL_MESSAGES[special.refusal]}`);
  if (special)
    throw unprocessable(
      `ipAddress shares addresses with ${special.range}, ${RANGE_REASONS[special.refusal]}`,
    );
  return isHost ? network : cidr;
}
