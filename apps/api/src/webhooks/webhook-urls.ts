import { Injectable } from '@nestjs/common';
import { ForbiddenHost, readTenantUrl, TenantHosts, tenantNetworks, tenantUrlRefusal } from '#drivers';
import type { WebhookFormat } from '#entities';
import { ApiSettings } from '../api.settings';
import { invalidField } from '../errors';

/** Of its name, so that the request is answered. */
const TIMEOUT_MS = 3000;

/** Which URLs a webhook may have. Workers check again at each attempt. */
@Injectable()
export class WebhookUrls {
  private readonly hosts: TenantHosts;

  constructor(settings: ApiSettings) {
    const networks = tenantNetworks({ TENANT_URL_NETWORKS: settings.TENANT_URL_NETWORKS.join(',') });
    this.hosts = new TenantHosts(networks);
  }

  /** @returns its canonical form @throws ApiError 400 */
  async check(given: string): Promise<string> {
    const refusal = tenantUrlRefusal(given, 'whole');
    const url = readTenantUrl(given, 'whole');
    if (refusal !== null || !url) throw invalidField('url', refusal ?? 'is not allowed');
    try {
      await this.hosts.addresses(url.hostname, url.port, AbortSignal.timeout(TIMEOUT_MS));
    } catch (error) {
      if (error instanceof ForbiddenHost)
        throw invalidField('url', 'leads to an address that this deployment lets no webhook lead to');
      // its name may get an address later: the first delivery tells
    }
    return url.text;
  }

  /** The URL without what may be a secret: chat programs have theirs in the path. */
  shown(url: string, format: WebhookFormat): string {
    const { origin, pathname, search } = new URL(url);
    if (format !== 'standard') return `${origin}/…`;
    return `${origin}${pathname}${search === '' ? '' : '?…'}`;
  }
}
