import {
  canonicalCidr,
  parseHost,
  refusalOf,
  REFUSAL_WORDS,
  type AddressPolicy,
  type IpVersion,
} from '#rules';
import { unprocessable } from '../errors/api-error';

/** What may be opened for good. */
export interface StaticAddressPolicy extends AddressPolicy {
  /** the shortest prefix a range may have, by family */
  readonly minPrefix: Readonly<Record<IpVersion, number>>;
}

export interface StaticAddress {
  readonly version: IpVersion;
  /** canonical: an address alone, or a CIDR range with its host bits cleared */
  readonly text: string;
}

/** @throws ApiError 422 when it is no address, one that may not be let in, or too wide a range */
export function staticAddress(given: string, policy: StaticAddressPolicy): StaticAddress {
  const read = canonicalCidr(given.trim());
  if (!read) throw unprocessable('ipAddress must be an IPv4 or IPv6 address, or a CIDR range');
  const { version, cidr, prefix } = read;
  const network = cidr.slice(0, cidr.indexOf('/'));
  const shortest = policy.minPrefix[version];
  if (prefix < shortest) {
    throw unprocessable(`ipAddress is too wide: a range may be /${shortest} at most, this one is /${prefix}`);
  }
  const refusal = refusalOf(parseHost(network)!, policy);
  if (refusal) throw unprocessable(`ipAddress ${REFUSAL_WORDS[refusal]}`);
  return { version, text: prefix === (version === 4 ? 32 : 128) ? network : cidr };
}
