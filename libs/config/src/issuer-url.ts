import { ISSUER_URL, MAX_ISSUER_URL_LENGTH } from './server-urls';
import type { ServiceSettings } from './service.settings';

/**
 * The issuer's URL without an organization: OIDC_ISSUER_URL, else `oidc` below PUBLIC_URL where clouds accept that.
 * @returns null: there is no issuer, as PUBLIC_URL is unset, is not https, or has a port
 */
export function issuerUrlOf({
  OIDC_ISSUER_URL,
  PUBLIC_URL,
}: Pick<ServiceSettings, 'OIDC_ISSUER_URL' | 'PUBLIC_URL'>): string | null {
  if (OIDC_ISSUER_URL !== undefined) return OIDC_ISSUER_URL;
  const url = `${PUBLIC_URL?.replace(/\/$/, '') ?? ''}/oidc`;
  return url.startsWith('https:') && ISSUER_URL.test(url) && url.length <= MAX_ISSUER_URL_LENGTH ? url : null;
}
