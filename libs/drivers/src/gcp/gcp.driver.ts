import { parseRuleKey, type ChangeResult, type ResourceConfig, type TargetRead } from '#rules';
import { accountKey } from '../account-key';
import type { CallToken } from '../call-tokens';
import type { CloudAccount } from '../cloud-accounts';
import { requireResourceType } from '../credential-fields';
import { explainOpen, refuseOpenTarget } from '../open-target';
import { Outcomes } from '../outcomes';
import {
  byAction,
  type CloudTarget,
  type DriverCredential,
  type Inspection,
  type CloudDriver,
  type RuleChange,
  type Verified,
} from '../provider-driver';
import { firstTypeOf } from '../provider-facts';
import { writtenKeys } from '../written-keys';
import { AccessTokens, readIdentity } from './access-tokens';
import { ComputeClients } from './compute-clients';
import { policyWarnings } from './firewall-policies';
import { observedRules, readTaggedNetwork } from './firewall-mapping';
import { additionsOf, removalsOf } from './firewall-writes';
import { GCP_FACTS } from './gcp.facts';
import { accessRules, networkBlocks } from './open-rules';
import { sendPaced } from './paced-writes';
import { listProjects } from './projects';
import { requirePermissions } from './permission-check';
import { VpcNetwork } from './vpc-network';

/**
 * The driver for firewall rules of Google’s VPC networks: one firewall rule per RuleSpec.
 * @param environment contains the variables of `GCP_FACTS`
 */
export async function createGcpDriver(environment: NodeJS.ProcessEnv): Promise<CloudDriver> {
  return new GcpDriver(new AccessTokens(environment), await ComputeClients.load(environment));
}

class GcpDriver implements CloudDriver {
  readonly kind = 'GCP';

  constructor(
    private readonly tokens: AccessTokens,
    private readonly compute: ComputeClients,
  ) {}

  accountKey({ identifier, credential }: CloudTarget): string {
    return accountKey('GCP', readTaggedNetwork(identifier).project, credential);
  }

  async checkCredential(credential: DriverCredential): Promise<void> {
    await this.tokens.check(readIdentity(credential));
  }

  async listAccounts(credential: DriverCredential): Promise<CloudAccount[]> {
    const token = await this.tokens.token(readIdentity(credential));
    return token.run(() => listProjects((page) => this.compute.searchProjects(token, page)));
  }

  verify(target: CloudTarget, config: ResourceConfig): Promise<Verified> {
    return this.inNetwork(target, async (network) => {
      const { policiesFirst } = await network.describe();
      const rules = await network.list();
      await this.tokens.requireSubjectCondition(readIdentity(target.credential));
      await network.requireOperationAccess();
      await requirePermissions(network);
      refuseOpenTarget(network.target.network, config, ...accessRules(rules, network.target));
      const hasRules = rules.length > 0;
      return { warnings: await policyWarnings(network, config, { policiesFirst, hasRules }) };
    });
  }

  readRules(target: CloudTarget): Promise<TargetRead> {
    return this.inspect(target);
  }

  inspect(target: CloudTarget): Promise<Inspection> {
    return this.inNetwork(target, async (network) => {
      const rules = await network.list();
      // For a deleted network, Compute returns an empty list: check that the network exists.
      if (rules.length === 0) await network.describe();
      const blockOf = networkBlocks(rules, network.target);
      const writtenKey = writtenKeys(target);
      const observed = rules
        .flatMap((rule) => observedRules(rule, network.target, target.deployment, writtenKey))
        .map((rule) => {
          const block = blockOf(parseRuleKey(rule.key));
          return block === null ? rule : { ...rule, noEffect: block };
        });
      const { network: name } = network.target;
      return {
        rules: observed,
        explainOpen: (config) => explainOpen(name, config, ...accessRules(rules, network.target)),
      };
    });
  }

  async applyChanges(target: CloudTarget, changes: readonly RuleChange[]): Promise<ChangeResult[]> {
    const { adds, removals } = byAction(changes);
    const outcomes = new Outcomes('Google', this.deadline());
    if (changes.length === 0) return [];
    await this.inNetwork(target, async (network, token) => {
      const ids = removals.map(({ providerRuleId }) => providerRuleId);
      await sendPaced(removalsOf(network, ids, this.deadline()), outcomes);
      outcomes.beginAdditions();
      await sendPaced(additionsOf(network, adds, this.deadline()), outcomes);
      token.forgetAfter(outcomes.failure);
    });
    return outcomes.resultsOf(changes);
  }

  private deadline(): number {
    return performance.now() + firstTypeOf(GCP_FACTS).traits.callTimeoutMs;
  }

  private async inNetwork<T>(
    target: CloudTarget,
    work: (network: VpcNetwork, token: CallToken<string>) => Promise<T>,
  ): Promise<T> {
    requireResourceType(GCP_FACTS, target);
    const taggedNetwork = readTaggedNetwork(target.identifier);
    const token = await this.tokens.token(readIdentity(target.credential));
    return token.run(() => work(new VpcNetwork(taggedNetwork, token, this.compute), token));
  }
}
