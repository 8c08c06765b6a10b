import type { ChangeResult, ResourceConfig, TargetRead } from '#rules';
import { accountKey } from '../account-key';
import { cloudAccount, readAccounts, type CloudAccount } from '../cloud-accounts';
import { Deadline } from '../deadline';
import { requireResourceType } from '../credential-fields';
import type {
  CloudDriver,
  CloudTarget,
  DriverCredential,
  DriverOptions,
  Inspection,
  RuleChange,
  Verified,
} from '../provider-driver';
import { AccessTokens } from './access-tokens';
import { ArmClients } from './arm-clients';
import { ArmAccessCheck } from './arm/arm-access';
import { ArmJson, type ArmAccess } from './arm/arm-json';
import { ChildRules } from './arm/child-rules';
import { PropertyList } from './arm/property-list';
import { RunningOperations } from './arm/running-operations';
import { ARM_TYPES } from './arm/tables';
import { readCredential, readResourceName } from './azure-credentials';
import { AZURE_FACTS } from './azure.facts';
import type { AzureTarget } from './azure-target';
import { GroupTarget } from './group-target';
import { NetworkSecurityGroup } from './network-security-group';

const AUTHORITY = 'https://login.microsoftonline.com';
const RESOURCE_MANAGER = 'https://management.azure.com';
/** For the pages of subscriptions. */
const LIST_MS = 60_000;
const SUBSCRIPTION = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * The driver for Azure: network security groups, and the firewalls of services of their own.
 * @param environment contains `AZURE_AUTHORITY_HOST` and `AZURE_RESOURCE_MANAGER_URL`
 */
export function createAzureDriver(environment: NodeJS.ProcessEnv, options: DriverOptions = {}): CloudDriver {
  return new AzureDriver(environment, options.callTimeoutMs);
}

class AzureDriver implements CloudDriver {
  readonly kind = 'AZURE';
  private readonly tokens: AccessTokens;
  private readonly clients: ArmClients;
  private readonly running = new RunningOperations();

  /** @param callTimeoutMs for tests; undefined: that of the type */
  constructor(
    environment: NodeJS.ProcessEnv,
    private readonly callTimeoutMs: number | undefined,
  ) {
    const endpoint = withoutTrailingSlash(environment.AZURE_RESOURCE_MANAGER_URL || RESOURCE_MANAGER);
    this.tokens = new AccessTokens(
      withoutTrailingSlash(environment.AZURE_AUTHORITY_HOST || AUTHORITY),
      endpoint,
    );
    this.clients = new ArmClients(endpoint);
  }

  /** Azure counts the calls of a principal on each service of a subscription. */
  accountKey(target: CloudTarget): string {
    const { subscriptionId, armType } = readResourceName(target);
    const [namespace = ''] = armType.split('/');
    const { clientId = '' } = target.credential.data;
    return accountKey('AZURE', `${subscriptionId}:${clientId}:${namespace}`, target.credential);
  }

  async checkCredential(credential: DriverCredential): Promise<void> {
    await this.tokens.check(
      readCredential(credential),
      new Deadline(this.timeoutMs('NETWORK_SECURITY_GROUP')),
    );
  }

  async listAccounts(credential: DriverCredential): Promise<CloudAccount[]> {
    const deadline = new Deadline(LIST_MS);
    const principal = readCredential(credential);
    const token = await this.tokens.token(principal, deadline);
    const clientSecret = 'clientSecret' in principal.proof ? principal.proof.clientSecret : '';
    const arm = new ArmJson({ endpoint: this.clients.endpoint, token, clientSecret, deadline });
    return token.run(() =>
      readAccounts('Azure', SUBSCRIPTION, async () => {
        const listed = await arm.list('/subscriptions', '2022-12-01', 'the list of subscriptions');
        const accounts = listed.map((one) => cloudAccount(one.subscriptionId, one.displayName, one.state));
        return { accounts, next: null };
      }),
    );
  }

  verify(target: CloudTarget, config: ResourceConfig): Promise<Verified> {
    return this.within(target, async (azureTarget, { deadline }) => {
      const verified = await azureTarget.verify(config);
      await this.tokens.requireSubjectCondition(readCredential(target.credential), deadline);
      return verified;
    });
  }

  readRules(target: CloudTarget): Promise<TargetRead> {
    return this.within(target, (azureTarget) => azureTarget.read());
  }

  inspect(target: CloudTarget): Promise<Inspection> {
    return this.within(target, (azureTarget) => azureTarget.inspect());
  }

  async applyChanges(target: CloudTarget, changes: readonly RuleChange[]): Promise<ChangeResult[]> {
    if (changes.length === 0) return [];
    return this.within(target, async (azureTarget, { token }) => {
      const { results, failure } = await azureTarget.apply(changes);
      token.forgetAfter(failure);
      return results;
    });
  }

  private timeoutMs(resourceType: string): number {
    return this.callTimeoutMs ?? AZURE_FACTS.resourceTypes[resourceType]!.traits.callTimeoutMs;
  }

  private async within<T>(
    target: CloudTarget,
    work: (azureTarget: AzureTarget, access: ArmAccess) => Promise<T>,
  ): Promise<T> {
    requireResourceType(AZURE_FACTS, target);
    const deadline = new Deadline(this.timeoutMs(target.resourceType));
    const principal = readCredential(target.credential);
    const token = await this.tokens.token(principal, deadline);
    const clientSecret = 'clientSecret' in principal.proof ? principal.proof.clientSecret : '';
    const access = { endpoint: this.clients.endpoint, token, clientSecret, deadline };
    const azureTarget = this.targetOf(target, access);
    return token.run(() => this.clients.within({ token, deadline }, () => work(azureTarget, access)));
  }

  private targetOf(target: CloudTarget, access: ArmAccess): AzureTarget {
    const arm = new ArmJson(access);
    const name = readResourceName(target);
    const type = ARM_TYPES[target.resourceType];
    const noun = type?.noun ?? 'network security group';
    const check = new ArmAccessCheck(arm, target.identifier, noun, name.name);
    const { deadline } = access;
    if (!type) {
      const client = this.clients.clientFor(name.subscriptionId);
      return new GroupTarget(target, new NetworkSecurityGroup(name, { ...access, client }), check, deadline);
    }
    const given = { target, name: name.name, arm, check, deadline, running: this.running };
    return type.shape === 'children' ? new ChildRules(type, given) : new PropertyList(type, given);
  }
}

const withoutTrailingSlash = (url: string): string => url.replace(/(?<!\/)\/+$/, '');
