import type { ChangeResult, TargetRead } from '#rules';
import { accountKey } from '../account-key';
import { credentialFields, requireResourceType } from '../credential-fields';
import { DriverError } from '../driver-error';
import type {
  CloudTarget,
  DriverCredential,
  DriverOptions,
  Inspection,
  CloudDriver,
  RuleChange,
} from '../provider-driver';
import { firstTypeOf } from '../provider-facts';
import { PinnedConnection } from '../tenant-url/pinned-connection';
import { ForbiddenHost, TenantHosts } from '../tenant-url/tenant-hosts';
import { tenantNetworks } from '../tenant-url/tenant-networks';
import { readTenantUrl, type TenantUrl } from '../tenant-url/tenant-url';
import { ListChange } from '../whole-list/list-change';
import { AdminApi } from './admin-api';
import { invalidResponse } from './admin-errors';
import { APISIX_FACTS, COLLECTIONS, gatewayOf } from './apisix.facts';
import { readWithConditions } from './conditions';
import { explainOpenList, listForm, observedRules } from './whitelist';

/**
 * The driver for APISIX gateways: manages the whitelist of the plugin ip-restriction through the Admin API.
 * @param environment contains `TENANT_URL_NETWORKS`
 * @param options for tests: time limit of one driver call over all its requests, and other DNS servers
 * @throws Error when `TENANT_URL_NETWORKS` is malformed
 */
export function createApisixDriver(
  environment: NodeJS.ProcessEnv,
  options: DriverOptions & { readonly dnsServers?: readonly string[] } = {},
): CloudDriver {
  const hosts = new TenantHosts(tenantNetworks(environment), options.dnsServers);
  return new ApisixDriver(hosts, options.callTimeoutMs ?? firstTypeOf(APISIX_FACTS).traits.callTimeoutMs);
}

class ApisixDriver implements CloudDriver {
  readonly kind = 'APISIX';

  constructor(
    private readonly hosts: TenantHosts,
    private readonly callTimeoutMs: number,
  ) {}

  accountKey({ credential }: CloudTarget): string {
    return accountKey('APISIX', gatewayOf(credential.data.adminUrl ?? ''), credential);
  }

  checkCredential(credential: DriverCredential): Promise<void> {
    return this.inGateway(credential, async (api) => {
      await api.listPlugins();
    });
  }

  async verify(target: CloudTarget): Promise<void> {
    const { collection, path } = readGatewayPath(target);
    await this.inGateway(target.credential, async (api) => {
      const object = await readWithConditions(api, path);
      if (object.notAsked) throw new DriverError('invalid', object.notAsked);
      await api.requireWritePermission(collection);
      const open = explainOpenList(object);
      if (open !== null) throw new DriverError('invalid', open);
    });
  }

  readRules(target: CloudTarget): Promise<TargetRead> {
    return this.inspect(target);
  }

  async inspect(target: CloudTarget): Promise<Inspection> {
    const { path } = readGatewayPath(target);
    return this.inGateway(target.credential, async (api) => {
      const object = await readWithConditions(api, path);
      return {
        rules: observedRules(object, target.claims),
        explainOpen: () => object.notAsked ?? explainOpenList(object),
      };
    });
  }

  async applyChanges(target: CloudTarget, changes: readonly RuleChange[]): Promise<ChangeResult[]> {
    if (changes.length === 0) return [];
    const { path } = readGatewayPath(target);
    return this.inGateway(target.credential, async (api, hasTime) => {
      const before = await api.read(path);
      const port = {
        read: () => api.read(path),
        write: (_: unknown, entries: readonly string[]) => api.writeWhitelist(path, entries),
      };
      return new ListChange(port, listForm(before), target.claims, before, hasTime).apply(changes);
    });
  }

  /** Resolves the gateway's host name once and connects only to these addresses. */
  private async inGateway<T>(
    credential: DriverCredential,
    work: (api: AdminApi, hasTime: () => boolean) => Promise<T>,
  ): Promise<T> {
    const field = credentialFields(APISIX_FACTS, credential);
    const url = readGateway(field('adminUrl'));
    const endsAt = performance.now() + this.callTimeoutMs;
    const connection = await this.connect(url);
    try {
      return await work(new AdminApi(connection, field('adminKey')), () => performance.now() < endsAt);
    } finally {
      connection.close();
    }
  }

  private async connect(url: TenantUrl): Promise<PinnedConnection> {
    try {
      return await PinnedConnection.open(url, this.hosts, AbortSignal.timeout(this.callTimeoutMs));
    } catch (error) {
      if (error instanceof ForbiddenHost)
        throw new DriverError(
          'invalid',
          'adminUrl leads to an address that this deployment lets no credential lead to',
        );
      throw invalidResponse(true);
    }
  }
}

function readGatewayPath(target: CloudTarget): { collection: string; path: string } {
  requireResourceType(APISIX_FACTS, target);
  const { resourceType, identifier } = target;
  // It becomes part of a path.
  if (!APISIX_FACTS.resourceTypes[resourceType]!.identifier.pattern.test(identifier))
    throw new DriverError('invalid', `${identifier} is no id of APISIX`);
  const collection = COLLECTIONS[resourceType]!;
  return { collection, path: `${collection}/${identifier}` };
}

function readGateway(adminUrl: string): TenantUrl {
  const url = readTenantUrl(gatewayOf(adminUrl));
  if (url) return url;
  throw new DriverError('denied', "The credential's adminUrl is no address of a gateway");
}
