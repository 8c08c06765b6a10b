import { AGENT_AWAY_SECONDS, type OrganizationId } from '#rules';
import { returned, type Tx } from '#entities';
import { readStates, unrecordedOffers, type AgentState } from './agent-state';

/** An agent as a process knows it from its last answer. */
export interface PolledAgent {
  readonly agentId: string;
  readonly organizationId: OrganizationId;
  readonly targetKey: string;
  readonly keyId: string;
  readonly instance: string;
  /** of the state it has */
  readonly version: string;
  /** since its last request */
  readonly heardAgoMs: number;
}

/** What the database says about a polled agent. */
export interface ProvenPoll {
  readonly state: AgentState;
  /** until its API key expires; null: never */
  readonly keySecondsLeft: number | null;
}

interface AdmittedPoll {
  readonly agentId: string;
  readonly keySecondsLeft: number | null;
}

/** Requests of many agents at once, each of which has the current state. Serves all organizations. */
export class AgentPollStore {
  /**
   * Does for many agents what their requests would do one by one while nothing has changed: checks that the installation
   * still serves with a valid key and was not away, records when it was heard of, and reads the state. It waits for no
   * lock: an agent whose row is locked counts as changed.
   * @returns by agent id; without those that something has changed for: their requests have to be served one by one
   */
  async prove(tx: Tx, agents: readonly PolledAgent[]): Promise<Map<string, ProvenPoll>> {
    const admitted = new Map((await this.admit(tx, agents)).map((poll) => [poll.agentId, poll]));
    const asked = agents
      .filter(({ agentId }) => admitted.has(agentId))
      .map((agent) => ({ ...agent, servedVersion: agent.version }));
    const read = await readStates(tx, asked);
    return new Map(
      asked.flatMap(({ agentId, version }, index): [string, ProvenPoll][] => {
        const { state, rules } = read[index]!;
        if (state.version !== version || unrecordedOffers(rules).length > 0) return [];
        return [[agentId, { state, keySecondsLeft: admitted.get(agentId)!.keySecondsLeft }]];
      }),
    );
  }

  /** Records the use of a key at most once a minute, as each other request does. */
  private async admit(tx: Tx, agents: readonly PolledAgent[]): Promise<AdmittedPoll[]> {
    return returned<AdmittedPoll>(
      await tx.query(
        `WITH polled AS (
           SELECT * FROM jsonb_to_recordset($1::jsonb)
             AS p("agentId" uuid, "keyId" uuid, instance text, version text, "heardAgoMs" float8)
         ), serving AS MATERIALIZED (
           SELECT a.id, a.address, k.id AS key_id, p."heardAgoMs" AS heard_ago_ms,
             extract(epoch FROM k.expires_at - now())::float8 AS key_seconds_left
           FROM polled p JOIN agents a ON a.id = p."agentId" JOIN api_keys k ON k.id = a.key_id
           JOIN users u ON u.id = k.user_id
           WHERE a.key_id = p."keyId" AND a.instance = p.instance AND a.served_version = p.version
             AND a.seen_at > now() - make_interval(secs => $2)
             AND a.name = ANY (k.agents) AND 'agent:connect' = ANY (k.scopes) AND k.revoked_at IS NULL
             AND (k.expires_at IS NULL OR k.expires_at > now()) AND u.is_active
           FOR NO KEY UPDATE OF a SKIP LOCKED
         ), stale AS MATERIALIZED (
           SELECT k.id, s.address FROM serving s JOIN api_keys k ON k.id = s.key_id
           WHERE k.last_used_at IS NULL OR k.last_used_at < now() - interval '1 minute'
           FOR NO KEY UPDATE OF k SKIP LOCKED
         ), used AS (
           UPDATE api_keys k SET last_used_at = now(), last_used_ip = stale.address FROM stale WHERE k.id = stale.id
         )
         UPDATE agents a SET seen_at = greatest(a.seen_at, now() - make_interval(secs => s.heard_ago_ms / 1000))
         FROM serving s WHERE a.id = s.id
         RETURNING a.id AS "agentId", s.key_seconds_left AS "keySecondsLeft"`,
        [JSON.stringify(agents), AGENT_AWAY_SECONDS],
      ),
    );
  }
}
