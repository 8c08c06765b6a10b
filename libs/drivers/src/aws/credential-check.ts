import type { DriverCredential } from '../provider-driver';
import { readCredential, type AwsKeys } from './aws-credentials';
import { toFailure } from './aws-errors';
import type { RoleSessions } from './role-sessions';
import type { SdkSettings } from './sdk-settings';

/** A credential belongs to no region; keys of the partitions China and GovCloud are known in theirs only. */
const REGION_OF_PARTITION: Readonly<Record<string, string>> = {
  'aws-cn': 'cn-north-1',
  'aws-us-gov': 'us-gov-west-1',
};
const REGION = 'us-east-1';

/** Asks STS who a tenant's credential is: AWS answers that to everybody it knows, whatever else they may do. */
export class CredentialCheck {
  constructor(
    private readonly roles: RoleSessions,
    private readonly settings: SdkSettings,
  ) {}

  /** @throws DriverError */
  async check(given: DriverCredential): Promise<void> {
    const credential = readCredential(given);
    if (!('roleArn' in credential)) return this.askForIdentity(credential);
    const [, partition = ''] = credential.roleArn.split(':');
    await this.roles.check(credential, REGION_OF_PARTITION[partition] ?? REGION);
  }

  private async askForIdentity(keys: AwsKeys): Promise<void> {
    const { STSClient, GetCallerIdentityCommand } = await import('@aws-sdk/client-sts');
    const client = new STSClient(this.settings.for('AWS_ENDPOINT_URL_STS', REGION, keys));
    await client.send(new GetCallerIdentityCommand({}), this.settings.deadline()).catch((error: unknown) => {
      throw toFailure(error, [keys.secretAccessKey, keys.sessionToken ?? '']);
    });
  }
}
