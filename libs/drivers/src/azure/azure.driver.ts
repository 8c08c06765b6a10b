import { overrideWarnings, type ChangeResult, type ObservedRule, type ResourceConfig } from '#rules';
import { accountKey } from '../account-key';
import { asCallFailure } from '../call-failure';
import { Deadline } from '../deadline';
import type { CallToken } from '../call-tokens';
import { DriverError } from '../driver-error';
import { explainOpen, refuseOpenTarget } from '../open-target';
import {
  byAction,
  type CloudTarget,
  type DriverCredential,
  type DriverOptions,
  type Inspection,
  type ProviderDriver,
  type RuleChange,
  type Verified,
} from '../provider-driver';
import { writtenKeys } from '../written-keys';
import { AccessTokens } from './access-tokens';
import { ArmClients } from './arm-clients';
import { readCredential, readGroupName } from './azure-credentials';
import { AZURE_FACTS } from './azure.facts';
import { Batch } from './batch';
import { NetworkSecurityGroup } from './network-security-group';
import { accessRules, denialsBefore, isNeutral, observedRules, type GroupRule } from './rule-mapping';
import { missingActions } from './write-permission';

const AUTHORITY = 'https://login.microsoftonline.com';
/** Rules that a lock kept, deleted in one comparison. */
const MAX_TIDIED = 5;
const RESOURCE_MANAGER = 'https://management.azure.com';

/**
 * The driver for Azure's network security groups.
 * @param environment contains `AZURE_AUTHORITY_HOST` and `AZURE_RESOURCE_MANAGER_URL`
 */
export function createAzureDriver(
  environment: NodeJS.ProcessEnv,
  { callTimeoutMs = AZURE_FACTS.traits.callTimeoutMs }: DriverOptions = {},
): ProviderDriver {
  return new AzureDriver(environment, callTimeoutMs);
}

class AzureDriver implements ProviderDriver {
  readonly kind = 'AZURE';
  readonly traits = AZURE_FACTS.traits;
  private readonly tokens: AccessTokens;
  private readonly clients: ArmClients;

  constructor(
    environment: NodeJS.ProcessEnv,
    private readonly callTimeoutMs: number,
  ) {
    const endpoint = withoutTrailingSlash(environment.AZURE_RESOURCE_MANAGER_URL || RESOURCE_MANAGER);
    this.tokens = new AccessTokens(
      withoutTrailingSlash(environment.AZURE_AUTHORITY_HOST || AUTHORITY),
      endpoint,
    );
    this.clients = new ArmClients(endpoint);
  }

  accountKey(target: CloudTarget): string {
    return accountKey('AZURE', readGroupName(target).subscriptionId, target.credential);
  }

  async checkCredential(credential: DriverCredential): Promise<void> {
    await this.tokens.check(readCredential(credential), this.deadline());
  }

  verify(target: CloudTarget, config: ResourceConfig): Promise<Verified> {
    return this.inGroup(target, this.deadline(), async (group) => {
      await group.describe();
      const rules = await group.readRules();
      await this.tokens.requireSubjectCondition(readCredential(target.credential), this.deadline());
      await requireWritePermission(group);
      const lockWarnings = await checkLocks(group);
      refuseOpenTarget(group.group.name, config, accessRules(rules));
      const denials = denialsBefore(rules, config, target.deployment);
      return { warnings: [...lockWarnings, ...overrideWarnings(denials)] };
    });
  }

  readRules(target: CloudTarget): Promise<readonly ObservedRule[]> {
    return this.inGroup(
      target,
      this.deadline(),
      async (group) => inspectionOf(group, await group.readRules(), target).rules,
    );
  }

  async inspect(target: CloudTarget): Promise<Inspection> {
    return this.inGroup(target, this.deadline(), async (group) => {
      const rules = await group.readRules();
      const leftovers = rules.filter((rule) => isNeutral(rule, target.deployment));
      if (leftovers.length === 0) return inspectionOf(group, rules, target);
      try {
        for (const { name } of leftovers.slice(0, MAX_TIDIED)) await group.remove(name);
      } catch (error) {
        // they let nobody in: the next comparison tries again
        asCallFailure(error);
      }
      return inspectionOf(group, await group.readRules(), target);
    });
  }

  async applyChanges(target: CloudTarget, changes: readonly RuleChange[]): Promise<ChangeResult[]> {
    if (changes.length === 0) return [];
    const deadline = this.deadline();
    return this.inGroup(target, deadline, async (group, token) => {
      const { adds, removals } = byAction(changes);
      const rules = await group.readRules().catch((error: unknown) => {
        // a rule is removed by its name, also where nothing may be read
        if (adds.length === 0 && error instanceof DriverError && error.kind === 'denied') return [];
        throw error;
      });
      const batch = new Batch(group, rules, target.deployment, deadline);
      for (const change of new Map(removals.map((one) => [one.providerRuleId, one])).values())
        await batch.remove(change);
      batch.beginAdditions();
      for (const change of adds) await batch.add(change);
      token.forgetAfter(batch.failure);
      return batch.resultsOf(changes);
    });
  }

  private deadline(): Deadline {
    return new Deadline(this.callTimeoutMs);
  }

  private async inGroup<T>(
    target: CloudTarget,
    deadline: Deadline,
    work: (group: NetworkSecurityGroup, token: CallToken<string>) => Promise<T>,
  ): Promise<T> {
    const name = readGroupName(target);
    const principal = readCredential(target.credential);
    const token = await this.tokens.token(principal, deadline);
    const client = this.clients.clientFor(name.subscriptionId);
    const { endpoint } = this.clients;
    const clientSecret = 'clientSecret' in principal.proof ? principal.proof.clientSecret : '';
    const access = { client, endpoint, token, clientSecret, deadline };
    return token.during(() =>
      this.clients.within({ token, deadline }, () => work(new NetworkSecurityGroup(name, access), token)),
    );
  }
}

const inspectionOf = (
  { group }: NetworkSecurityGroup,
  rules: readonly GroupRule[],
  target: CloudTarget,
): Inspection => ({
  rules: observedRules(rules, target.deployment, writtenKeys(target)),
  explainOpen: (config) => explainOpen(group.name, config, accessRules(rules)),
});

/** @throws DriverError `denied` naming the missing actions. Passes when the credential may not list its permissions. */
async function requireWritePermission(group: NetworkSecurityGroup): Promise<void> {
  const grants = await nullIfDenied(group.permissions());
  const missing = grants && missingActions(grants);
  if (!missing || missing.length === 0) return;
  throw new DriverError('denied', `The credential lacks ${missing.join(', ')} on the network security group`);
}

/**
 * Passes when the credential may not read locks.
 * @returns warnings about locks that keep rules from being deleted
 * @throws DriverError `invalid` naming a lock that keeps them from being changed
 */
async function checkLocks(group: NetworkSecurityGroup): Promise<string[]> {
  const locks = (await nullIfDenied(group.locks())) ?? [];
  const namesOf = (kind: string): string[] =>
    locks.filter(({ level }) => level.toLowerCase() === kind).map(({ name }) => name);
  for (const name of namesOf('readonly'))
    throw new DriverError(
      'invalid',
      `The lock ${name} (ReadOnly) lets nobody change the rules of ${group.group.name}: make it a CanNotDelete lock, or remove it`,
    );
  return namesOf('cannotdelete').map(
    (name) =>
      `${group.group.name} has a delete lock, ${name}: access is closed by neutralising the rule, which stays until the lock is gone`,
  );
}

async function nullIfDenied<Answer>(call: Promise<Answer>): Promise<Answer | null> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof DriverError && error.kind === 'denied') return null;
    throw error;
  }
}

const withoutTrailingSlash = (url: string): string => url.replace(/(?<!\/)\/+$/, '');
