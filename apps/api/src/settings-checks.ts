import { ValidateBy, type ValidationOptions } from 'class-validator';
import { OIDC_PRESETS } from '#entities';
import { canonicalCidr, isProxyRange } from '#rules';
import { checkedBy } from './http/checked-by';

const everyItem = (
  name: string,
  test: (item: string) => boolean,
  options: ValidationOptions,
): PropertyDecorator => {
  const validate = (value: unknown): boolean =>
    Array.isArray(value) && value.every((item: unknown) => typeof item === 'string' && test(item));
  return ValidateBy({ name, validator: { validate } }, options);
};

/** Property decorator: a list of web origins, each exactly as a browser sends it. `*` is refused. */
export const AreOrigins = (options: ValidationOptions): PropertyDecorator =>
  everyItem('areOrigins', (item) => URL.canParse(item) && new URL(item).origin === item, options);

const LOOPBACK_HOST = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;
const MAX_ISSUER_LENGTH = 200;

/** An issuer's keys decide who may act: unencrypted only on this machine. */
function isIssuer(item: string): boolean {
  if (item.length > MAX_ISSUER_LENGTH || !/^https?:\/\/[^?#\s@\\]+$/.test(item) || !URL.canParse(item))
    return false;
  const { protocol, hostname } = new URL(item);
  return protocol === 'https:' || LOOPBACK_HOST.test(hostname);
}

const PRESET = new RegExp(`^(?:${OIDC_PRESETS.join('|')})=`);

/** Property decorator: addresses of OpenID Connect issuers, exactly as in the `iss` claim, some bound to a preset. */
export const AreIssuers = (options: ValidationOptions): PropertyDecorator =>
  everyItem('areIssuers', (item) => isIssuer(item.replace(PRESET, '')), options);

const isRange = (item: unknown): item is string => typeof item === 'string' && canonicalCidr(item) !== null;

/** Property decorator: addresses and ranges of reverse proxies, none so wide that it could include callers. */
export const AreProxyRanges = (): PropertyDecorator =>
  checkedBy('areProxyRanges', (list) => {
    if (!Array.isArray(list) || !list.every(isRange))
      return 'TRUSTED_PROXIES must be a comma-separated list of addresses and CIDR ranges';
    return list.every((item) => isProxyRange(item))
      ? null
      : 'TRUSTED_PROXIES has a range wider than /8 (IPv4) or /16 (IPv6): name only the addresses or networks of your reverse proxies';
  });
