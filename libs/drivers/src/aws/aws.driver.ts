import { ruleKey, type ChangeResult, type ObservedRule, type ResourceConfig } from '#rules';
import { CallFailure } from '../call-failure';
import { DriverError } from '../driver-error';
import type {
  CloudTarget,
  DriverCredential,
  DriverOptions,
  ProviderDriver,
  RuleChange,
} from '../provider-driver';
import { Outcomes } from '../outcomes';
import { identityOf } from './aws-credentials';
import type { AwsTarget } from './aws-target';
import { AWS_FACTS } from './aws.facts';
import { CredentialCheck } from './credential-check';
import { Ec2Clients, type Ec2Access } from './ec2-clients';
import { PrefixList } from './prefix-list';
import { PrefixListEntries } from './prefix-list-entries';
import { RoleSessions } from './role-sessions';
import { SdkSettings } from './sdk-settings';
import { SecurityGroup } from './security-group';
import { SecurityGroupRules } from './security-group-rules';

type CreateTarget = (identifier: string, access: Ec2Access, settings: SdkSettings) => AwsTarget;

/** By resourceType. */
const CREATE_TARGET: Readonly<Record<string, CreateTarget>> = {
  SECURITY_GROUP: (...args) => new SecurityGroupRules(new SecurityGroup(...args)),
  PREFIX_LIST: (...args) => new PrefixListEntries(new PrefixList(...args)),
};

/**
 * The driver for EC2 security groups and managed prefix lists.
 * @param environment contains `AWS_ENDPOINT_URL_EC2`, `AWS_ENDPOINT_URL_STS` and the deployment's own keys
 */
export function createAwsDriver(
  environment: NodeJS.ProcessEnv,
  { onOwnIdentityFailure = () => undefined }: DriverOptions = {},
): ProviderDriver {
  return new AwsDriver(environment, onOwnIdentityFailure);
}

class AwsDriver implements ProviderDriver {
  readonly kind = 'AWS';
  readonly traits = AWS_FACTS.traits;
  private readonly settings: SdkSettings;
  private readonly clients: Ec2Clients;
  private readonly credentials: CredentialCheck;

  constructor(environment: NodeJS.ProcessEnv, onOwnIdentityFailure: (reason: Error) => void) {
    this.settings = new SdkSettings(environment, AWS_FACTS.traits.callTimeoutMs);
    const roles = new RoleSessions(environment, this.settings, onOwnIdentityFailure);
    this.clients = new Ec2Clients(roles, this.settings);
    this.credentials = new CredentialCheck(roles, this.settings);
  }

  accountKey({ credential, region }: CloudTarget): string {
    return `AWS:${identityOf(credential)}:${region ?? ''}`;
  }

  checkCredential(credential: DriverCredential): Promise<void> {
    return this.credentials.check(credential);
  }

  async verify(target: CloudTarget, config: ResourceConfig): Promise<void> {
    await this.withTarget(target, (awsTarget) => awsTarget.verify(config));
    await this.clients.requireCondition(target);
  }

  readRules(target: CloudTarget): Promise<ObservedRule[]> {
    return this.withTarget(target, (awsTarget) => awsTarget.readRules(target.deployment));
  }

  async applyChanges(target: CloudTarget, changes: readonly RuleChange[]): Promise<ChangeResult[]> {
    if (changes.length === 0) return [];
    const adds = changes.filter((change) => change.action === 'add');
    const removed = changes.filter((change) => change.action === 'remove');
    const removals = [...new Set(removed.map(({ providerRuleId }) => providerRuleId))];
    const outcomes = new Outcomes('AWS');
    await this.withTarget(target, (awsTarget) =>
      awsTarget.apply({ adds, removals }, target.deployment, outcomes),
    );
    if (outcomes.failure) this.clients.forgetStaleSession(target, outcomes.failure);
    return changes.map((change) =>
      outcomes.of(change.action === 'add' ? ruleKey(change.spec) : change.providerRuleId),
    );
  }

  private async withTarget<T>(target: CloudTarget, work: (awsTarget: AwsTarget) => Promise<T>): Promise<T> {
    const createTarget = CREATE_TARGET[target.resourceType];
    if (!createTarget) {
      throw new DriverError('invalid', `AWS has no resources of type ${target.resourceType} here`);
    }
    const access = await this.clients.access(target);
    try {
      return await work(createTarget(target.identifier, access, this.settings));
    } catch (error) {
      if (error instanceof CallFailure) this.clients.forgetStaleSession(target, error);
      throw error;
    }
  }
}
