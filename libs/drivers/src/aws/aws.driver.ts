import type { ChangeResult, ObservedRule, ResourceConfig } from '#rules';
import { accountKey } from '../account-key';
import type { CallToken } from '../call-tokens';
import { requireResourceType } from '../credential-fields';
import {
  byAction,
  type CloudTarget,
  type DriverCredential,
  type DriverOptions,
  type Inspection,
  type ProviderDriver,
  type RuleChange,
} from '../provider-driver';
import { Outcomes } from '../outcomes';
import { identityOf, type AwsKeys } from './aws-credentials';
import type { AwsTarget } from './aws-target';
import { AWS_FACTS } from './aws.facts';
import { CredentialCheck } from './credential-check';
import { Ec2Clients, type Ec2Access } from './ec2-clients';
import { PrefixList } from './prefix-list';
import { PrefixListEntries } from './prefix-list-entries';
import { RoleSessions } from './role-sessions';
import { SdkSettings } from './sdk-settings';
import { SecurityGroup } from './security-group';

type CreateTarget = (identifier: string, access: Ec2Access, settings: SdkSettings) => AwsTarget;

/** By resourceType. */
const CREATE_TARGET: Readonly<Record<string, CreateTarget>> = {
  SECURITY_GROUP: (...args) => new SecurityGroup(...args),
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
    return accountKey('AWS', `${identityOf(credential)}:${region ?? ''}`, credential);
  }

  checkCredential(credential: DriverCredential): Promise<void> {
    return this.credentials.check(credential);
  }

  async verify(target: CloudTarget, config: ResourceConfig): Promise<void> {
    await this.withTarget(target, (awsTarget) => awsTarget.verify(config));
    await this.clients.requireCondition(target);
  }

  async readRules(target: CloudTarget): Promise<readonly ObservedRule[]> {
    return (await this.inspect(target)).rules;
  }

  inspect(target: CloudTarget): Promise<Inspection> {
    return this.withTarget(target, (awsTarget) => awsTarget.inspect(target));
  }

  async applyChanges(target: CloudTarget, changes: readonly RuleChange[]): Promise<ChangeResult[]> {
    if (changes.length === 0) return [];
    const { adds, removals: removed } = byAction(changes);
    // EC2 changes a rule in place with a permission of its own: one that another program changed is removed, and added again
    const replaced = adds.flatMap(({ replaces = [] }) => replaces);
    const removals = [...new Set([...removed.map(({ providerRuleId }) => providerRuleId), ...replaced])];
    const outcomes = new Outcomes('AWS');
    await this.withTarget(target, async (awsTarget, keys) => {
      await awsTarget.apply({ adds, removals }, target.deployment, outcomes);
      keys.forgetAfter(outcomes.failure);
    });
    return outcomes.resultsOf(changes);
  }

  private async withTarget<T>(
    target: CloudTarget,
    work: (awsTarget: AwsTarget, keys: CallToken<AwsKeys>) => Promise<T>,
  ): Promise<T> {
    requireResourceType(AWS_FACTS, target);
    const createTarget = CREATE_TARGET[target.resourceType]!;
    const access = await this.clients.access(target);
    return access.keys.during(() =>
      work(createTarget(target.identifier, access, this.settings), access.keys),
    );
  }
}
