import { EC2Client } from '@aws-sdk/client-ec2';
import { CallFailure } from '../call-failure';
import type { CloudTarget } from '../provider-driver';
import { fingerprint, readCredential, readRegion } from './aws-credentials';
import { BoundedCache } from '../bounded-cache';
import type { RoleSessions } from './role-sessions';
import type { SdkSettings } from './sdk-settings';

/** A client that signs as one tenant, and the texts that its error messages must not hold. */
export interface Ec2Access {
  readonly client: EC2Client;
  readonly secrets: readonly string[];
}

const CAPACITY = 200;

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
    const keys = 'roleArn' in credential ? await this.roles.keys(credential, region) : credential;
    const { accessKeyId, secretAccessKey, sessionToken = '' } = keys;
    const cacheKey = fingerprint(region, accessKeyId, secretAccessKey, sessionToken);
    let client = this.clients.get(cacheKey);
    if (!client) {
      client = new EC2Client(this.settings.for('AWS_ENDPOINT_URL_EC2', region, keys));
      this.clients.set(cacheKey, client);
    }
    return { client, secrets: [secretAccessKey, sessionToken] };
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
