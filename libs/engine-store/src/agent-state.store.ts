import type { OrganizationId } from '#rules';
import { returned, type TenantStore, type Tx } from '#entities';
import { readStates, unrecordedOffers, type AgentState, type HostRule, type ReadState } from './agent-state';
import type { ServingAgent } from './agent.store';

/** Notification channel: the payload is the key of a host whose desired state may have changed. */
export const AGENT_STATES_CHANNEL = 'agent_states';

/** Read attempts while rules change concurrently. */
const MAX_READS = 10;

/** Desired states of hosts, and what was offered to their agents. */
export class AgentStateStore implements TenantStore<AgentStateStore> {
  /**
   * The desired state of the host, recorded before it is sent: an offered rule counts as possibly present until the agent
   * reports otherwise.
   * @param agent admitted in this transaction
   */
  async offer(tx: Tx, organization: OrganizationId, agent: ServingAgent): Promise<AgentState> {
    for (let reads = 1; ; reads += 1) {
      const { state, rules } = await this.read(tx, organization, agent);
      if (await this.noteOffered(tx, rules)) {
        await tx.query(
          'UPDATE agents SET served_version = $2 WHERE id = $1 AND served_version IS DISTINCT FROM $2',
          [agent.id, state.version],
        );
        return state;
      }
      if (reads === MAX_READS) throw new Error('The rules of an agent keep changing while they are read');
    }
  }

  /** The desired state of the host, without recording an offer. */
  async preview(tx: Tx, organization: OrganizationId, targetKey: string): Promise<AgentState> {
    return (await this.read(tx, organization, { targetKey, servedVersion: null })).state;
  }

  /** The version of the desired state of the host. */
  async version(tx: Tx, organization: OrganizationId, agent: ServingAgent): Promise<string> {
    return (await this.read(tx, organization, agent)).state.version;
  }

  private async read(
    tx: Tx,
    organizationId: OrganizationId,
    { targetKey, servedVersion }: Pick<ServingAgent, 'targetKey' | 'servedVersion'>,
  ): Promise<ReadState> {
    const [read] = await readStates(tx, [{ organizationId, targetKey, servedVersion }]);
    return read!;
  }

  /** @returns false when a rule has changed since it was read: the state may not be sent */
  private async noteOffered(tx: Tx, rules: readonly HostRule[]): Promise<boolean> {
    const fresh = unrecordedOffers(rules);
    if (fresh.length === 0) return true;
    const noted = returned(
      await tx.query(
        `UPDATE rules r SET offered_revision = o.revision,
           state = CASE WHEN o.desired AND r.state = 'absent' THEN 'unknown' ELSE r.state END,
           offered_until = CASE WHEN o.desired
             THEN greatest(r.offered_until, coalesce(to_timestamp(o."endsAt"), 'infinity')) ELSE r.offered_until END,
           possible_since = CASE WHEN NOT o.desired THEN r.possible_since
             WHEN r.state = 'absent' THEN now() ELSE coalesce(r.possible_since, now()) END,
           present_since = CASE WHEN o.desired AND r.state = 'absent' THEN NULL ELSE r.present_since END,
           -- until it is observed again, it may have been removed meanwhile
           removal_sent_at = CASE WHEN NOT o.desired THEN coalesce(r.removal_sent_at, now())
             WHEN r.state <> 'absent' THEN r.removal_sent_at END
         FROM (
           -- in the order in which settlements lock them
           SELECT o.* FROM jsonb_to_recordset($1::jsonb) AS o(id uuid, revision int, desired boolean, "endsAt" float8)
           JOIN rules offered ON offered.id = o.id AND offered.revision = o.revision
           ORDER BY o.id FOR NO KEY UPDATE OF offered
         ) o
         WHERE r.id = o.id RETURNING 1`,
        [
          JSON.stringify(
            fresh.map(({ id, revision, desired, endsAt }) => ({
              id,
              revision,
              desired,
              endsAt: endsAt === null ? null : Number(endsAt),
            })),
          ),
        ],
      ),
    );
    return noted.length === fresh.length;
  }
}
