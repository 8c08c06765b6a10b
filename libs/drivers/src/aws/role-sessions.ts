import type { Credentials } from '@aws-sdk/client-sts';
import { TokenCache, type CallToken, type IssuedToken } from '../call-tokens';
import { DriverError } from '../driver-error';
import { fingerprint } from '../fingerprint';
import { requireSubjectCondition } from '../identity-tokens';
import { readOwnKeys, type AssumableRole, type AwsKeys, type FederatedRole } from './aws-credentials';
import { unexpectedResponse, toFailure } from './aws-errors';
import type { SdkSettings } from './sdk-settings';

const SESSION_NAME = 'drawbridge';
const SESSION_SECONDS = 3600;
/** The audience that AWS's documentation names. */
const AUDIENCE = 'sts.amazonaws.com';

type Role = AssumableRole | FederatedRole;

/** Temporary keys for the tenants' roles. */
export class RoleSessions {
  private readonly sessions = new TokenCache<AwsKeys>();

  constructor(
    private readonly environment: NodeJS.ProcessEnv,
    private readonly settings: SdkSettings,
  ) {}

  /** Keys of the role. @throws DriverError */
  async keys(role: Role, region: string): Promise<CallToken<AwsKeys>> {
    return this.sessions.take(this.sessionKey(role, region), () => this.open(role, region));
  }

  /** Assumes the role without the cache. @throws DriverError */
  async check(role: Role, region: string): Promise<void> {
    await this.open(role, region);
    await this.requireCondition(role, region);
  }

  /** Makes the next call request new keys: the role's permissions may have changed. */
  forget(role: Role, region: string): void {
    this.sessions.forget(this.sessionKey(role, region));
  }

  /**
   * Checks that the role requires what identifies the organization. Otherwise any tenant, or any credential of the
   * organization, could use it by naming it (confused deputy).
   * @throws DriverError `denied` when it does not
   */
  async requireCondition(role: Role, region: string): Promise<void> {
    const { roleArn } = role;
    if ('identity' in role)
      return requireSubjectCondition(
        () => this.assumeWithToken(role, region, 'probe'),
        `The trust policy of ${roleArn}`,
      );
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

  private open(role: Role, region: string): Promise<IssuedToken<AwsKeys>> {
    return 'identity' in role
      ? this.assumeWithToken(role, region, 'credential')
      : this.assume(role, region, readOwnKeys(this.environment));
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
    return issuedKeys(response, 'AssumeRole');
  }

  /** Not signed: the token is the proof, and this deployment needs no keys of its own. */
  private async assumeWithToken(
    { roleArn, identity }: FederatedRole,
    region: string,
    subject: 'credential' | 'probe',
  ): Promise<IssuedToken<AwsKeys>> {
    const { STSClient, AssumeRoleWithWebIdentityCommand } = await import('@aws-sdk/client-sts');
    const token = await identity.sign(AUDIENCE, subject);
    const client = new STSClient(this.settings.clientConfig('AWS_ENDPOINT_URL_STS', region, null));
    const command = new AssumeRoleWithWebIdentityCommand({
      RoleArn: roleArn,
      RoleSessionName: SESSION_NAME,
      DurationSeconds: SESSION_SECONDS,
      WebIdentityToken: token,
    });
    const response = await client.send(command, this.settings.deadline()).catch((error: unknown) => {
      throw toFailure(error, [token]);
    });
    return issuedKeys(response, 'AssumeRoleWithWebIdentity');
  }

  private sessionKey(role: Role, region: string): string {
    if ('identity' in role)
      return fingerprint(role.roleArn, role.identity.issuer, role.identity.subject, region);
    const own = readOwnKeys(this.environment);
    return fingerprint(role.roleArn, role.externalId, region, own.accessKeyId, own.secretAccessKey);
  }
}

function issuedKeys(
  { Credentials }: { readonly Credentials?: Credentials | undefined },
  operation: string,
): IssuedToken<AwsKeys> {
  const { AccessKeyId, SecretAccessKey, SessionToken, Expiration } = Credentials ?? {};
  if (!AccessKeyId || !SecretAccessKey || !SessionToken || !Expiration) throw unexpectedResponse(operation);
  const token = { accessKeyId: AccessKeyId, secretAccessKey: SecretAccessKey, sessionToken: SessionToken };
  return { token, expiresAt: Expiration.getTime() };
}
