import { EC2Client } from '@aws-sdk/client-ec2';
import { LRUCache } from 'lru-cache';
import { CallToken } from '../call-tokens';
import type { CloudTarget } from '../provider-driver';
import { fingerprint } from '../fingerprint';
import { readCredential, readRegion, type AwsKeys } from './aws-credentials';
import { toFailure } from './aws-errors';
import type { ListSize } from './group-room';
import type { RoleSessions } from './role-sessions';
import { sessionPolicy } from './session-policy';
import type { SdkSettings } from './sdk-settings';

/** EC2 with one tenant's credentials. */
export interface Ec2Access {
  /** Makes one call with a client that signs with the tenant's keys. @throws CallFailure */
  call<T>(send: (client: EC2Client) => Promise<T>): Promise<T>;
}

/** EC2, and the keys of the calls. */
export interface TenantAccess extends Ec2Access {
  readonly keys: CallToken<AwsKeys>;
  /** of prefix lists that the tenant's groups refer to, by id, as they were read within ten minutes; `size` null: refused */
  readonly listSizes: LRUCache<string, { readonly size: ListSize | null }>;
}

const CAPACITY = 200;
const LIST_SIZE_TTL_MS = 600_000;

/** @param keys the client's keys, masked in error messages: AWS quotes them */
export const accessWith = (
  client: EC2Client,
  { secretAccessKey, sessionToken = '' }: Pick<AwsKeys, 'secretAccessKey' | 'sessionToken'>,
): Ec2Access => ({
  call: async (send) => {
    try {
      return await send(client);
    } catch (error) {
      throw toFailure(error, [secretAccessKey, sessionToken]);
    }
  },
});

/** EC2 clients by credential and region. */
export class Ec2Clients {
  private readonly clients = new LRUCache<string, EC2Client>({ max: CAPACITY });
  private readonly listSizes = new LRUCache<string, TenantAccess['listSizes']>({ max: CAPACITY });

  constructor(
    private readonly roles: RoleSessions,
    private readonly settings: SdkSettings,
  ) {}

  /** @throws DriverError when the credential or the region is unusable, or the role cannot be assumed */
  async access(target: CloudTarget): Promise<TenantAccess> {
    const region = readRegion(target);
    const credential = readCredential(target.credential);
    const keys =
      'roleArn' in credential
        ? await this.roles.keys(credential, region, sessionPolicy(target, region, credential.roleArn))
        : new CallToken(credential);
    const call: Ec2Access['call'] = (send) =>
      keys.use((current) => accessWith(this.client(region, current), current).call(send));
    const tenant = fingerprint(region, ...Object.values(target.credential.data));
    const listSizes = this.listSizes.get(tenant) ?? new LRUCache({ max: CAPACITY, ttl: LIST_SIZE_TTL_MS });
    this.listSizes.set(tenant, listSizes);
    return { call, keys, listSizes };
  }

  private client(region: string, keys: AwsKeys): EC2Client {
    const { accessKeyId, secretAccessKey, sessionToken = '' } = keys;
    const cacheKey = fingerprint(region, accessKeyId, secretAccessKey, sessionToken);
    let client = this.clients.get(cacheKey);
    if (!client) {
      client = new EC2Client(this.settings.clientConfig('AWS_ENDPOINT_URL_EC2', region, keys));
      this.clients.set(cacheKey, client);
    }
    return client;
  }

  /** @throws DriverError `denied` when the tenant's role can be assumed without the condition that protects it */
  async requireCondition(target: CloudTarget): Promise<void> {
    const credential = readCredential(target.credential);
    if ('roleArn' in credential) await this.roles.requireCondition(credential, readRegion(target));
  }
}
