import { TokenCache, type CallToken, type IssuedToken } from '../call-tokens';
import { DriverError } from '../driver-error';
import { fingerprint } from '../fingerprint';
import { requireSubjectCondition, withIdentity } from '../identity-tokens';
import { assumeWithKeys, assumeWithToken, type Assumption } from './assume-role';
import type { AssumableRole, AwsKeys, FederatedRole } from './aws-credentials';
import { OwnIdentity } from './own-identity';
import { NO_CALLS } from './session-policy';
import type { SdkSettings } from './sdk-settings';

const SESSION_SECONDS = 3600;
/** One session for each target in use, of about 2 kB. */
const CAPACITY = 5000;
/** The audience that AWS's documentation names. */
const AUDIENCE = 'sts.amazonaws.com';

type Role = AssumableRole | FederatedRole;

/** Temporary keys for the tenants' roles. */
export class RoleSessions {
  private readonly sessions = new TokenCache<AwsKeys>(CAPACITY);
  private readonly own: OwnIdentity;

  constructor(
    environment: NodeJS.ProcessEnv,
    private readonly settings: SdkSettings,
    onOwnIdentityFailure: (reason: Error) => void,
  ) {
    this.own = new OwnIdentity(environment, settings, onOwnIdentityFailure);
  }

  /** Keys of the role that may do what a policy allows. @throws DriverError */
  async keys(role: Role, region: string, policy: string): Promise<CallToken<AwsKeys>> {
    return this.sessions.take(this.sessionKey(role, region, policy), () => this.open(role, region, policy));
  }

  /** Assumes the role without the cache. The session may do nothing. @throws DriverError */
  async check(role: Role, region: string): Promise<void> {
    await this.open(role, region, NO_CALLS);
    await this.requireCondition(role, region);
  }

  /**
   * Checks that the role requires what identifies the organization. Otherwise any tenant, or any credential of the
   * organization, could use it by naming it (confused deputy).
   * @throws DriverError `denied` when it does not
   */
  async requireCondition(role: Role, region: string): Promise<void> {
    const { roleArn } = role;
    const assumption = { roleArn, seconds: SESSION_SECONDS, policy: NO_CALLS };
    if ('identity' in role)
      return requireSubjectCondition(
        role.identity,
        async () =>
          assumeWithToken(
            this.settings,
            region,
            assumption,
            await role.identity.sign(AUDIENCE, 'probe', roleArn),
          ),
        `The trust policy of ${roleArn}`,
      );
    try {
      await this.assume(assumption, region, undefined);
    } catch (error) {
      if (error instanceof DriverError && error.kind === 'denied') return;
      throw error;
    }
    throw new DriverError(
      'denied',
      `${roleArn} can be assumed without an external id: its trust policy lacks the condition sts:ExternalId`,
    );
  }

  private async open(role: Role, region: string, policy: string): Promise<IssuedToken<AwsKeys>> {
    const assumption = { roleArn: role.roleArn, seconds: SESSION_SECONDS, policy };
    if ('externalId' in role) return this.assume(assumption, region, role.externalId);
    const token = await role.identity.sign(AUDIENCE, 'credential', role.roleArn);
    return assumeWithToken(this.settings, region, assumption, token).catch((error: unknown) => {
      throw withIdentity(error, role.identity);
    });
  }

  private async assume(
    assumption: Assumption,
    region: string,
    externalId: string | undefined,
  ): Promise<IssuedToken<AwsKeys>> {
    const own = await this.own.keys(region);
    return own.use((keys) => assumeWithKeys(this.settings, region, assumption, { keys, externalId }));
  }

  private sessionKey(role: Role, region: string, policy: string): string {
    if ('identity' in role)
      return fingerprint(role.roleArn, role.identity.issuer, role.identity.subject, region, policy);
    return fingerprint(role.roleArn, role.externalId, region, this.own.cacheKey, policy);
  }
}
