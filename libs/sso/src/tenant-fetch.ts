import type { CustomFetch } from 'openid-client';
import { type InternalHosts, PinnedConnection, readTenantUrl, type TenantHosts } from '#drivers';

const MAX_BYTES = 65_536;
/** The constructor of `Response` takes no body with them. */
const WITHOUT_BODY = [204, 205, 304];
const USED_HEADERS = ['content-type', 'location', 'www-authenticate'];

/**
 * The fetch of the OpenID library, through the checks of tenants' URLs: names are resolved once and checked, redirects are not
 * followed, answers are at most 64 kB.
 * @param hosts for https
 * @param internalHosts for http, which is not for public addresses
 */
export const tenantFetch =
  (hosts: TenantHosts, internalHosts: InternalHosts): CustomFetch =>
  async (address, { method, headers, body, signal }) => {
    const url = readTenantUrl(address, 'whole');
    if (!url) throw new Error('The issuer names an address that is not allowed');
    if (!signal) throw new Error('A request to an issuer needs a limit of time');
    const allowed = url.isSecure ? hosts : internalHosts;
    const connection = await PinnedConnection.open(url, allowed, signal, MAX_BYTES);
    try {
      const sent = body instanceof URLSearchParams || typeof body === 'string' ? body.toString() : undefined;
      const answer = await connection.request({
        method,
        path: '',
        headers: { ...headers, 'user-agent': 'drawbridge' },
        ...(sent !== undefined && { body: sent }),
      });
      const used = USED_HEADERS.flatMap((name) => {
        const value = answer.headers[name];
        return typeof value === 'string' ? [[name, value] as [string, string]] : [];
      });
      const text = WITHOUT_BODY.includes(answer.status) ? null : answer.text;
      return new Response(text, { status: answer.status, headers: used });
    } finally {
      connection.close();
    }
  };
