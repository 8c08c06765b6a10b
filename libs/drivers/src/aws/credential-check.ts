import type { CallFailure } from '../call-failure';
import type { DriverCredential } from '../provider-driver';
import { readCredential, type AwsKeys } from './aws-credentials';
import { toFailure } from './aws-errors';
import type { RoleSessions } from './role-sessions';
import type { SdkSettings } from './sdk-settings';

/** Credentials have no region, but those of a partition are valid only in its regions. */
const REGION_OF_PARTITION: Readonly<Record<string, string>> = {
  'aws-cn': 'cn-north-1',
  'aws-us-gov': 'us-gov-west-1',
  'aws-eusc': 'eusc-de-east-1',
  'aws-iso': 'us-iso-east-1',
  'aws-iso-b': 'us-isob-east-1',
  'aws-iso-e': 'eu-isoe-west-1',
  'aws-iso-f': 'us-isof-south-1',
};
const REGION = 'us-east-1';
/** Where a key may be valid that is unknown in `REGION`: a key id does not tell its partition. The others are not reachable. */
const OTHER_REGIONS = ['us-gov-west-1', 'cn-north-1', 'eusc-de-east-1'];
/** STS does not know the key: it may be one of another partition. */
const UNKNOWN_KEY = 'InvalidClientTokenId';

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

  /** A partition that cannot be reached does not make a key valid that the others do not know. */
  private async checkIdentity(keys: AwsKeys): Promise<void> {
    const failure = await this.failureIn(REGION, keys);
    if (failure?.code !== UNKNOWN_KEY) return throwIfFailed(failure);
    const others = await Promise.all(OTHER_REGIONS.map((region) => this.failureIn(region, keys)));
    if (others.some((other) => other === null)) return;
    throwIfFailed(others.find((other) => other?.kind === 'denied' && other.code !== UNKNOWN_KEY) ?? failure);
  }

  private async failureIn(region: string, keys: AwsKeys): Promise<CallFailure | null> {
    const { STSClient, GetCallerIdentityCommand } = await import('@aws-sdk/client-sts');
    const client = new STSClient(this.settings.clientConfig('AWS_ENDPOINT_URL_STS', region, keys));
    return client.send(new GetCallerIdentityCommand({}), this.settings.deadline()).then(
      () => null,
      (error: unknown) => toFailure(error, [keys.secretAccessKey, keys.sessionToken ?? '']),
    );
  }
}

function throwIfFailed(failure: CallFailure | null): void {
  if (failure) throw failure;
}
