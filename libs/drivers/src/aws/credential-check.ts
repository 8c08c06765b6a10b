import type { DriverCredential } from '../provider-driver';
import { readCredential, type AwsKeys } from './aws-credentials';
import { toFailure } from './aws-errors';
import type { RoleSessions } from './role-sessions';
import type { SdkSettings } from './sdk-settings';

/** Credentials have no region, but keys of the partitions China and GovCloud are valid only in their regions. */
const REGION_OF_PARTITION: Readonly<Record<string, string>> = {
  'aws-cn': 'cn-north-1',
  'aws-us-gov': 'us-gov-west-1',
};
const REGION = 'us-east-1';

/** Checks a tenant's credential with STS `GetCallerIdentity`, which needs no permission. */
export class CredentialCheck {
  constructor(
    private readonly roles: RoleSessions,
    private readonly settings: SdkSettings,
  ) {}

  /** @throws DriverError */
  async check(given: DriverCredential): Promise<void> {
    const credential = readCredential(given);
    if (!('roleArn' in credential)) return this.checkIdentity(credential);
    const [, partition = ''] = credential.roleArn.split(':');
    await this.roles.check(credential, REGION_OF_PARTITION[partition] ?? REGION);
  }

  private async checkIdentity(keys: AwsKeys): Promise<void> {
    const { STSClient, GetCallerIdentityCommand } = await import('@aws-sdk/client-sts');
    const client = new STSClient(this.settings.clientConfig('AWS_ENDPOINT_URL_STS', REGION, keys));
    await client.send(new GetCallerIdentityCommand({}), this.settings.deadline()).catch((error: unknown) => {
      throw toFailure(error, [keys.secretAccessKey, keys.sessionToken ?? '']);
    });
  }
}
