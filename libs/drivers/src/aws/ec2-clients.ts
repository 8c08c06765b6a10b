import { EC2Client } from '@aws-sdk/client-ec2';
import type { CallFailure } from '../call-failure';
import { CallToken } from '../call-tokens';
import type { CloudTarget } from '../provider-driver';
import { fingerprint, readCredential, readRegion, type AwsKeys } from './aws-credentials';
import { toFailure } from './aws-errors';
import { BoundedCache } from '../bounded-cache';
import type { RoleSessions } from './role-sessions';
import type { SdkSettings } from './sdk-settings';

/** EC2 as one tenant. */
export interface Ec2Access {
  /** Makes one call with a client that signs as the tenant. @throws CallFailure */
  call<T>(send: (client: EC2Client) => Promise<T>): Promise<T>;
}

const CAPACITY = 200;

/** @param keys those of the client: AWS quotes them in its messages, from where they are taken out */
export const accessBy = (
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

/** One EC2 client for each credential and region. */
export class Ec2Clients {
  private readonly clients = new BoundedCache<EC2Client>(CAPACITY);

  constructor(
    private readonly roles: RoleSessions,
    private readonly settings: SdkSettings,
  ) {}

  /** @throws DriverError when the credential or the region is unusable, or the role cannot be assumed */
  async access(target: CloudTarget): Promise<Ec2Access> {
    const region = readRegion(target);
    const credential = readCredential(target.credential);
    const token =
      'roleArn' in credential ? await this.roles.keys(credential, region) : new CallToken(credential);
    return { call: (send) => token.use((keys) => accessBy(this.client(region, keys), keys).call(send)) };
  }

  private client(region: string, keys: AwsKeys): EC2Client {
    const { accessKeyId, secretAccessKey, sessionToken = '' } = keys;
    const cacheKey = fingerprint(region, accessKeyId, secretAccessKey, sessionToken);
    let client = this.clients.get(cacheKey);
    if (!client) {
      client = new EC2Client(this.settings.for('AWS_ENDPOINT_URL_EC2', region, keys));
      this.clients.set(cacheKey, client);
    }
    return client;
  }

  /** A role's keys may be from before its policy changed, or past their end by EC2's clock: the next call gets new ones. */
  reconsider(target: CloudTarget, { kind, code }: CallFailure): void {
    const credential = readCredential(target.credential);
    const isStale = kind === 'denied' || code === 'RequestExpired';
    if (isStale && 'roleArn' in credential) this.roles.forget(credential, readRegion(target));
  }

  /** @throws DriverError `denied` when the tenant's role takes anyone who names it */
  async requireExternalId(target: CloudTarget): Promise<void> {
    const credential = readCredential(target.credential);
    if ('roleArn' in credential) await this.roles.requireExternalId(credential, readRegion(target));
  }
}
