import { Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import { mayReach } from './reachable';
import type { TenantNetwork } from './tenant-networks';

/** A tenant's URL leads where this deployment lets no tenant lead it. */
export class ForbiddenHost extends Error {
  constructor() {
    super('It leads to an address that this deployment lets no tenant name');
    this.name = 'ForbiddenHost';
  }
}

const LOOPBACK = ['127.0.0.1', '::1'];
const QUERY_MS = 1500;
const TRIES = 2;

/** Where tenants' names lead. Names are asked of the DNS alone, without a thread of the process waiting for it. */
export class TenantHosts {
  /**
   * @param networks the private networks that tenants may name
   * @param servers name servers `address:port`, instead of the system's
   */
  constructor(
    private readonly networks: readonly TenantNetwork[],
    private readonly servers?: readonly string[],
  ) {}

  /**
   * The addresses of a host, asked for once and checked, every one: connections have to be made to these and no others.
   * @throws ForbiddenHost when one of them is none that a tenant may reach; the resolver's error when there is none
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
    const resolver = new Resolver({ timeout: QUERY_MS, tries: TRIES });
    if (this.servers) resolver.setServers(this.servers);
    const cancel = (): void => resolver.cancel();
    signal.addEventListener('abort', cancel, { once: true });
    try {
      signal.throwIfAborted();
      const answers = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
      const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
      if (addresses.length > 0) return addresses;
      throw (answers[0] as PromiseRejectedResult).reason as Error;
    } finally {
      signal.removeEventListener('abort', cancel);
    }
  }
}
