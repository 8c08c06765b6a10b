import { ruleKey, type ChangeResult, type ObservedRule } from '#rules';
import { CallFailure } from '../call-failure';
import { DriverError } from '../driver-error';
import type { CloudTarget, DriverCredential, ProviderDriver, RuleChange } from '../provider-driver';
import type { ResourceTypeFacts } from '../provider-facts';
import { addRules } from './addition';
import { identityOf } from './aws-credentials';
import { AWS_FACTS } from './aws.facts';
import { CredentialCheck } from './credential-check';
import { Ec2Clients } from './ec2-clients';
import { Outcomes } from '../outcomes';
import { removeRules } from './removal';
import { RoleSessions } from './role-sessions';
import { observedRule } from './rule-mapping';
import { SdkSettings } from './sdk-settings';
import { SecurityGroup } from './security-group';

/**
 * The driver for EC2 security groups.
 * @param environment where `AWS_ENDPOINT_URL_EC2`, `AWS_ENDPOINT_URL_STS` and the deployment's own keys are read
 */
export function createAwsDriver(environment: NodeJS.ProcessEnv): ProviderDriver {
  return new AwsDriver(environment);
}

class AwsDriver implements ProviderDriver {
  readonly kind = 'AWS';
  readonly traits = AWS_FACTS.traits;
  private readonly settings: SdkSettings;
  private readonly clients: Ec2Clients;
  private readonly credentials: CredentialCheck;

  constructor(environment: NodeJS.ProcessEnv) {
    this.settings = new SdkSettings(environment, AWS_FACTS.traits.callTimeoutMs);
    const roles = new RoleSessions(environment, this.settings);
    this.clients = new Ec2Clients(roles, this.settings);
    this.credentials = new CredentialCheck(roles, this.settings);
  }

  accountKey({ credential, region }: CloudTarget): string {
    return `AWS:${identityOf(credential)}:${region ?? ''}`;
  }

  checkCredential(credential: DriverCredential): Promise<void> {
    return this.credentials.check(credential);
  }

  async verify(target: CloudTarget): Promise<void> {
    await this.inGroup(target, async (group) => {
      await group.describe();
      await group.readRules();
      await group.mayChange();
    });
    await this.clients.requireExternalId(target);
  }

  readRules(target: CloudTarget): Promise<ObservedRule[]> {
    return this.inGroup(target, async (group) => {
      const rules = await group.readRules();
      // EC2 answers a filter for a group that is gone with an empty list.
      if (rules.length === 0) await group.describe();
      return rules.map((rule) => observedRule(rule, target.deployment)).filter((rule) => rule !== null);
    });
  }

  async applyChanges(target: CloudTarget, changes: readonly RuleChange[]): Promise<ChangeResult[]> {
    const removals = changes.filter((change) => change.action === 'remove');
    const adds = changes.filter((change) => change.action === 'add');
    if (adds.some(({ spec }) => spec.ports.length > 1)) {
      throw new DriverError('invalid', 'A rule of a security group holds one port range');
    }
    const outcomes = new Outcomes('AWS');
    await this.inGroup(target, async (group) => {
      const ruleIds = [...new Set(removals.map(({ providerRuleId }) => providerRuleId))];
      if (ruleIds.length > 0) await removeRules(group, ruleIds, outcomes);
      // Halted by a denied removal, nothing is added either: it could not be closed again.
      if (adds.length > 0) await addRules(group, adds, outcomes);
    });
    if (outcomes.haltedBy instanceof CallFailure) this.clients.reconsider(target, outcomes.haltedBy);
    return changes.map((change) =>
      outcomes.of(change.action === 'add' ? ruleKey(change.spec) : change.providerRuleId),
    );
  }

  private async inGroup<T>(target: CloudTarget, work: (group: SecurityGroup) => Promise<T>): Promise<T> {
    factsOf(target.resourceType);
    const access = await this.clients.access(target);
    try {
      return await work(new SecurityGroup(target.identifier, access, this.settings));
    } catch (error) {
      if (error instanceof CallFailure) this.clients.reconsider(target, error);
      throw error;
    }
  }
}

/** @throws DriverError `invalid` for a kind of object that is not driven */
function factsOf(resourceType: string): ResourceTypeFacts {
  const facts = AWS_FACTS.resourceTypes[resourceType];
  if (facts) return facts;
  throw new DriverError('invalid', `AWS has no resources of type ${resourceType} here`);
}
