import { ruleLife, type OrganizationId } from '#rules';
import type { TenantStore, Tx } from '#entities';
import { readState, unrecordedOffers, type AgentState, type HostRule } from './agent-state';
import type { ServingAgent } from './agent.store';
import type { RuleStore } from './rule.store';

/** Notification channel: the payload is the key of a host whose desired state may have changed. */
export const AGENT_STATES_CHANNEL = 'agent_states';

/** Read attempts while rules change concurrently. */
const MAX_READS = 10;

/** Desired states of hosts, and what was offered to their agents. */
export class AgentStateStore implements TenantStore<AgentStateStore> {
  constructor(private readonly rules: RuleStore) {}

  /** The desired state of the host. @returns null when there is more to send than was offered to its agent last */
  async readUnchanged(
    tx: Tx,
    organization: OrganizationId,
    { targetKey, servedVersion }: ServingAgent,
  ): Promise<AgentState | null> {
    const { state, rules } = await readState(tx, organization, targetKey, servedVersion);
    return state.version === servedVersion && unrecordedOffers(rules).length === 0 ? state : null;
  }

  /**
   * The desired state of the host, recorded before it is sent: an offered rule counts as possibly present until the agent
   * reports otherwise.
   * @param agent admitted in this transaction
   */
  async offer(tx: Tx, organization: OrganizationId, agent: ServingAgent): Promise<AgentState> {
    for (let reads = 1; reads <= MAX_READS; reads += 1) {
      const { state, rules } = await readState(tx, organization, agent.targetKey, agent.servedVersion);
      if (!(await this.noteOffered(tx, unrecordedOffers(rules)))) continue;
      await tx.query(
        'UPDATE agents SET served_version = $2 WHERE id = $1 AND served_version IS DISTINCT FROM $2',
        [agent.id, state.version],
      );
      return state;
    }
    throw new Error('The rules of an agent keep changing while they are read');
  }

  /** The desired state of the host, without recording an offer. */
  async preview(tx: Tx, organization: OrganizationId, targetKey: string): Promise<AgentState> {
    return (await readState(tx, organization, targetKey, null)).state;
  }

  /** The version of the desired state of the host. */
  async version(
    tx: Tx,
    organization: OrganizationId,
    { targetKey, servedVersion }: ServingAgent,
  ): Promise<string> {
    return (await readState(tx, organization, targetKey, servedVersion)).state.version;
  }

  /** @returns false when a rule has changed since it was read: the state may not be sent */
  private async noteOffered(tx: Tx, offers: readonly HostRule[]): Promise<boolean> {
    if (offers.length === 0) return true;
    const read = new Map(offers.map((rule) => [rule.id, rule]));
    const { rules, now } = await this.rules.lockAlone(tx, [...read.keys()]);
    const isAsRead = rules.every(({ id, revision }) => revision === read.get(id)!.revision);
    if (rules.length < offers.length || !isAsRead) return false;
    await this.rules.save(tx, {
      rules: rules.map((rule) => {
        const { desired, endsAt } = read.get(rule.id)!;
        if (!desired) return ruleLife.removalOffered(rule, now);
        return ruleLife.offered(rule, endsAt === null ? null : 1000 * Number(endsAt), now);
      }),
    });
    return true;
  }
}
