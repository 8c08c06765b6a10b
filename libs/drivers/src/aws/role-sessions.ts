import { TokenCache, type CallToken, type IssuedToken } from '../call-tokens';
import { DriverError } from '../driver-error';
import { fingerprint } from '../fingerprint';
import { readOwnKeys, type AssumableRole, type AwsKeys } from './aws-credentials';
import { unexpectedResponse, toFailure } from './aws-errors';
import type { SdkSettings } from './sdk-settings';

const SESSION_NAME = 'drawbridge';
const SESSION_SECONDS = 3600;

/** Temporary keys for the tenants' roles. */
export class RoleSessions {
  private readonly sessions = new TokenCache<AwsKeys>();

  constructor(
    private readonly environment: NodeJS.ProcessEnv,
    private readonly settings: SdkSettings,
  ) {}

  /** Keys of the role. @throws DriverError */
  async keys(role: AssumableRole, region: string): Promise<CallToken<AwsKeys>> {
    const own = readOwnKeys(this.environment);
    return this.sessions.take(sessionKey(role, region, own), () => this.assume(role, region, own));
  }

  /** Assumes the role without the cache. @throws DriverError */
  async check(role: AssumableRole, region: string): Promise<void> {
    await this.assume(role, region, readOwnKeys(this.environment));
    await this.requireExternalId(role, region);
  }

  /** Makes the next call request new keys: the role's permissions may have changed. */
  forget(role: AssumableRole, region: string): void {
    this.sessions.forget(sessionKey(role, region, readOwnKeys(this.environment)));
  }

  /**
   * Checks that the role requires the external id. Otherwise any tenant could use it by naming it (confused deputy).
   * @throws DriverError `denied` when it does not
   */
  async requireExternalId({ roleArn }: AssumableRole, region: string): Promise<void> {
    try {
      await this.assume({ roleArn }, region, readOwnKeys(this.environment));
    } catch (error) {
      if (error instanceof DriverError && error.kind === 'denied') return;
      throw error;
    }
    throw new DriverError(
      'denied',
      `${roleArn} can be assumed without an external id: its trust policy lacks the condition sts:ExternalId`,
    );
  }

  private async assume(
    { roleArn, externalId }: Pick<AssumableRole, 'roleArn'> & Partial<AssumableRole>,
    region: string,
    own: AwsKeys,
  ): Promise<IssuedToken<AwsKeys>> {
    const { STSClient, AssumeRoleCommand } = await import('@aws-sdk/client-sts');
    const client = new STSClient(this.settings.clientConfig('AWS_ENDPOINT_URL_STS', region, own));
    const command = new AssumeRoleCommand({
      RoleArn: roleArn,
      RoleSessionName: SESSION_NAME,
      DurationSeconds: SESSION_SECONDS,
      ...(externalId !== undefined && { ExternalId: externalId }),
    });
    const response = await client.send(command, this.settings.deadline()).catch((error: unknown) => {
      throw toFailure(error, [own.secretAccessKey]);
    });
    const { AccessKeyId, SecretAccessKey, SessionToken, Expiration } = response.Credentials ?? {};
    if (!AccessKeyId || !SecretAccessKey || !SessionToken || !Expiration)
      throw unexpectedResponse('AssumeRole');
    const token = { accessKeyId: AccessKeyId, secretAccessKey: SecretAccessKey, sessionToken: SessionToken };
    return { token, expiresAt: Expiration.getTime() };
  }
}

const sessionKey = (role: AssumableRole, region: string, own: AwsKeys): string =>
  fingerprint(role.roleArn, role.externalId, region, own.accessKeyId, own.secretAccessKey);
