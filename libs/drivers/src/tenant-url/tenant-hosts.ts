import { Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import { mayReach } from './reachable';
import type { TenantNetwork } from './tenant-networks';

/** A tenant's URL resolves to an address that is not allowed. */
export class ForbiddenHost extends Error {
  constructor() {
    super('It leads to an address that this deployment lets no tenant name');
    this.name = 'ForbiddenHost';
  }
}

const LOOPBACK = ['127.0.0.1', '::1'];
const QUERY_TIMEOUT_MS = 1500;
const MAX_TRIES = 2;

/** Resolves host names of tenants' URLs. Uses DNS queries only: `getaddrinfo` would block a libuv thread. */
export class TenantHosts {
  /**
   * @param networks private networks that tenants' URLs may reach
   * @param servers DNS servers `address:port`; omitted: the system's
   */
  constructor(
    private readonly networks: readonly TenantNetwork[],
    private readonly servers?: readonly string[],
  ) {}

  /**
   * Resolves a host once and checks every address. Connections must use only these addresses.
   * @throws ForbiddenHost when any address is not allowed; the resolver's error when there is no address
   */
  async addresses(hostname: string, port: number, signal: AbortSignal): Promise<string[]> {
    const found = isIP(hostname) === 0 ? await this.resolve(hostname, signal) : [hostname];
    const networks = this.networks.filter((one) => one.port === null || one.port === port);
    const cidrs = networks.map(({ cidr }) => cidr);
    if (!found.every((address) => mayReach(address, cidrs))) throw new ForbiddenHost();
    return found;
  }

  private async resolve(hostname: string, signal: AbortSignal): Promise<string[]> {
    if (hostname === 'localhost' || hostname.endsWith('.localhost')) return LOOPBACK;
    const resolver = new Resolver({ timeout: QUERY_TIMEOUT_MS, tries: MAX_TRIES });
    if (this.servers) resolver.setServers(this.servers);
    const cancel = (): void => resolver.cancel();
    signal.addEventListener('abort', cancel, { once: true });
    try {
      signal.throwIfAborted();
      const responses = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
      const addresses = responses.flatMap((response) =>
        response.status === 'fulfilled' ? response.value : [],
      );
      if (addresses.length > 0) return addresses;
      throw (responses[0] as PromiseRejectedResult).reason as Error;
    } finally {
      signal.removeEventListener('abort', cancel);
    }
  }
}

/** The same for what is sent in the clear: nothing but the private networks that the deployment allows. */
export class InternalHosts extends TenantHosts {
  override async addresses(hostname: string, port: number, signal: AbortSignal): Promise<string[]> {
    const found = await super.addresses(hostname, port, signal);
    if (found.some((address) => mayReach(address, []))) throw new ForbiddenHost();
    return found;
  }
}
