import type { ChangeResult, ResourceConfig, TargetRead } from '#rules';
import { accountKey } from '../account-key';
import type { CloudAccount } from '../cloud-accounts';
import { DriverError } from '../driver-error';
import type { CallToken } from '../call-tokens';
import { requireResourceType } from '../credential-fields';
import {
  byAction,
  type CloudTarget,
  type DriverCredential,
  type DriverOptions,
  type Inspection,
  type CloudDriver,
  type RuleChange,
  type Verified,
} from '../provider-driver';
import { firstTypeOf } from '../provider-facts';
import { Outcomes } from '../outcomes';
import { parseCluster, parseIpSet } from './arns';
import type { AwsKeys } from './aws-credentials';
import { AwsJson } from './aws-json';
import type { AwsTarget } from './aws-target';
import { accountIn, AWS_FACTS } from './aws.facts';
import { CredentialCheck } from './credential-check';
import { Ec2Clients, type TenantAccess } from './ec2-clients';
import { EksEndpoint } from './eks-endpoint';
import { listOrganization } from './organization-accounts';
import { PrefixList } from './prefix-list';
import { PrefixListEntries } from './prefix-list-entries';
import { RoleSessions } from './role-sessions';
import { SdkSettings } from './sdk-settings';
import { SecurityGroup } from './security-group';
import { WafIpSet } from './waf-ip-set';

type CreateTarget = (identifier: string, access: TenantAccess, settings: SdkSettings) => AwsTarget;

/** By resourceType. */
const CREATE_TARGET: Readonly<Record<string, CreateTarget>> = {
  SECURITY_GROUP: (...args) => new SecurityGroup(...args),
  PREFIX_LIST: (...args) => new PrefixListEntries(new PrefixList(...args)),
  WAF_IP_SET: (identifier, { keys }, settings) => {
    const { partition, region } = parseIpSet(identifier) ?? refuseArn(identifier);
    const endpoint = settings.endpoint('AWS_ENDPOINT_URL_WAFV2');
    const { callTimeoutMs } = settings;
    return new WafIpSet(
      identifier,
      new AwsJson({ name: 'wafv2', region, partition, endpoint }, keys, callTimeoutMs),
    );
  },
  EKS_CLUSTER: (identifier, { keys }, settings) => {
    const { partition, region } = parseCluster(identifier) ?? refuseArn(identifier);
    const endpoint = settings.endpoint('AWS_ENDPOINT_URL_EKS');
    const eks = new AwsJson({ name: 'eks', region, partition, endpoint }, keys, settings.callTimeoutMs);
    return new EksEndpoint(identifier, eks, AWS_FACTS.resourceTypes['EKS_CLUSTER']!.traits.callTimeoutMs);
  },
};

/** What AWS limits apart from EC2, by resourceType. */
const SERVICE_OF: Readonly<Record<string, string>> = { WAF_IP_SET: ':waf', EKS_CLUSTER: ':eks' };

const refuseArn = (identifier: string): never => {
  throw new DriverError('invalid', `${identifier} is no ARN of this type`);
};

/**
 * The driver for EC2 security groups and managed prefix lists, IP sets of WAF, and endpoints of EKS.
 * @param environment contains `AWS_ENDPOINT_URL_EC2`, `AWS_ENDPOINT_URL_STS` and the deployment's own keys
 */
export function createAwsDriver(
  environment: NodeJS.ProcessEnv,
  { onOwnIdentityFailure = () => undefined }: DriverOptions = {},
): CloudDriver {
  return new AwsDriver(environment, onOwnIdentityFailure);
}

class AwsDriver implements CloudDriver {
  readonly kind = 'AWS';
  private readonly settings: SdkSettings;
  private readonly clients: Ec2Clients;
  private readonly credentials: CredentialCheck;
  private readonly roles: RoleSessions;

  constructor(environment: NodeJS.ProcessEnv, onOwnIdentityFailure: (reason: Error) => void) {
    this.settings = new SdkSettings(environment, firstTypeOf(AWS_FACTS).traits.callTimeoutMs);
    this.roles = new RoleSessions(environment, this.settings, onOwnIdentityFailure);
    this.clients = new Ec2Clients(this.roles, this.settings);
    this.credentials = new CredentialCheck(this.roles, this.settings);
  }

  /** All roles of an account share its limits; whose account an access key is of, nothing tells. */
  accountKey({ credential, region, resourceType, unprovenPath }: CloudTarget): string {
    const limited = `${region ?? ''}${SERVICE_OF[resourceType] ?? ''}`;
    const account = accountIn(credential.data.roleArn ?? '');
    if (account === undefined)
      return accountKey('AWS', `${credential.data.accessKeyId ?? ''}:${limited}`, credential);
    return [`AWS:${account}:${limited}`, ...(unprovenPath === undefined ? [] : [unprovenPath])].join(':');
  }

  listAccounts(credential: DriverCredential): Promise<CloudAccount[]> {
    return listOrganization(credential, this.roles, this.settings);
  }

  checkCredential(credential: DriverCredential): Promise<void> {
    return this.credentials.check(credential);
  }

  async verify(target: CloudTarget, config: ResourceConfig): Promise<Verified | void> {
    const verified = await this.withTarget(target, (awsTarget) => awsTarget.verify(config));
    await this.clients.requireCondition(target);
    return verified;
  }

  readRules(target: CloudTarget): Promise<TargetRead> {
    return this.inspect(target);
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
    const { callTimeoutMs } = AWS_FACTS.resourceTypes[target.resourceType]!.traits;
    const outcomes = new Outcomes('AWS', performance.now() + callTimeoutMs);
    await this.withTarget(target, async (awsTarget, keys) => {
      await awsTarget.apply({ adds, removals }, target, outcomes);
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
    return access.keys.run(() => work(createTarget(target.identifier, access, this.settings), access.keys));
  }
}
