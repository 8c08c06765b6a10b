import { AGENT_AWAY_SECONDS, type HostGuard, type OrganizationId, type TrafficConfig } from '#rules';
import { AuditTrail, HOLDING, SYSTEM_ACTOR, type Tx, rows } from '#entities';
import { byKey } from './by-key';
import { UNLEASED, type Lease } from './lease.store';
import { COMPARED_RESOURCE, type NamingResource } from './comparison';

/** A host and its agent, as monitored by workers. */
export interface WatchedHost {
  readonly name: string;
  /** since the agent's last request; null: none */
  readonly secondsAway: number | null;
  /** address of the serving installation */
  readonly address: string | null;
  /** another installation that sent requests under the same name within the last minute */
  readonly rival: { readonly address: string | null } | null;
  readonly resources: readonly WatchedResource[];
  /** as reported; null: the agent has reported none */
  readonly guard: HostGuard | null;
  /** desired rules that are not present, by the agent's last report */
  readonly failing: number;
  readonly failure: string | null;
}

/** A resource of a host. */
export interface WatchedResource extends NamingResource {
  readonly config: TrafficConfig;
  /** it was verified for this host: its traffic is to be guarded */
  readonly isVerified: boolean;
}

/** For `WHERE`: the rule `r` has a live holder. */
const IS_HELD = `EXISTS (SELECT FROM rule_holders holder
  CROSS JOIN LATERAL ${byKey('resource_ips', 'holder.resource_ip_id')} ip
  WHERE holder.rule_id = r.id AND holder.released_at IS NULL AND ip.status IN (${HOLDING}))`;

/** Comparisons of healthy hosts come due together, at multiples of this. */
const TOGETHER_SECONDS = 5;

/** Hosts with an agent, as workers and reports settle them. Serves all organizations. */
export class AgentWatchStore {
  private readonly audit = new AuditTrail();

  async host(tx: Tx, { targetId }: Lease): Promise<WatchedHost> {
    const [host] = await tx.query<WatchedHost[]>(
      `SELECT t.identifier AS name, extract(epoch FROM now() - a.seen_at)::float8 AS "secondsAway", a.address, a.guard,
         CASE WHEN a.rival_seen_at > now() - make_interval(secs => $2)
           THEN jsonb_build_object('address', a.rival_address) END AS rival,
         ARRAY(SELECT jsonb_build_object('isVerified', r.target_verified_at IS NOT NULL, ${COMPARED_RESOURCE})
           FROM resources r WHERE r.target_id = t.id AND r.deleted_at IS NULL) AS resources,
         failing.count::int AS failing, failing.failure
       FROM targets t LEFT JOIN agents a ON a.target_key = t.key
       CROSS JOIN LATERAL (
         SELECT count(*) AS count, min(r.last_error) AS failure FROM rules r
         WHERE r.target_id = t.id AND r.state = 'unknown' AND r.due_at IS NULL AND r.last_error IS NOT NULL
           AND EXISTS (SELECT FROM rule_holders holder JOIN resource_ips ip ON ip.id = holder.resource_ip_id
             WHERE holder.rule_id = r.id AND holder.released_at IS NULL AND ip.status IN (${HOLDING}))
       ) failing
       WHERE t.id = $1`,
      [targetId, AGENT_AWAY_SECONDS],
    );
    return host!;
  }

  /**
   * Finishes the due comparisons of all hosts that nothing is to be reported about, as a pass over each would: its agent
   * is connected and alone, no rule fails, it guards what it is to guard, and the last health events say so.
   * @param intervalSeconds until their next comparison
   * @returns how many
   */
  async finishHealthy(tx: Tx, intervalSeconds: number): Promise<number> {
    const finished = await rows(
      tx,
      `WITH healthy AS MATERIALIZED (
         SELECT t.id FROM targets t JOIN agents a ON a.target_key = t.key
         WHERE t.provider = 'AGENT' AND t.reconcile_due_at <= now() AND NOT t.reconcile_requested AND ${UNLEASED('t')}
           AND NOT a.told_away AND a.seen_at > now() - make_interval(secs => $1)
           AND (a.rival_seen_at IS NULL OR a.rival_seen_at <= now() - make_interval(secs => $1))
           AND (a.guard IS NULL OR (a.guard -> 'waiting' = '[]' AND a.guard -> 'leftAlone' = '[]' AND a.guard -> 'refused' = '[]'))
           AND NOT EXISTS (
             SELECT FROM rules r WHERE r.target_id = t.id AND r.state = 'unknown' AND r.last_error IS NOT NULL)
           AND (SELECT bool_and(coalesce(last.event_type = 'RECONCILE_OK', false))
             FROM resources r LEFT JOIN LATERAL (
               SELECT e.event_type FROM resource_health_events e
               WHERE e.resource_id = r.id AND e.event_type IN ('RECONCILE_OK', 'RECONCILE_FAILED')
               ORDER BY e.created_at DESC LIMIT 1
             ) last ON true WHERE r.target_id = t.id AND r.deleted_at IS NULL)
         FOR NO KEY UPDATE OF t SKIP LOCKED
       )
       UPDATE targets t SET reconcile_due_at =
         to_timestamp(ceil((extract(epoch FROM now()) + $2::float8) / ${TOGETHER_SECONDS}) * ${TOGETHER_SECONDS})
       FROM healthy WHERE t.id = healthy.id RETURNING 1`,
      [AGENT_AWAY_SECONDS, intervalSeconds],
    );
    return finished.length;
  }

  /**
   * Records that the host's agent is away, once per absence. It waits for no lock: an agent whose row is locked is sending
   * a request, or its resource is being edited, and either may wait for the target that is locked here. The next comparison
   * records it then.
   */
  async recordAway(tx: Tx, { targetId }: Lease, message: string): Promise<void> {
    const away = await rows<{ id: string; organizationId: OrganizationId; name: string; seenAt: Date }>(
      tx,
      `UPDATE agents a SET told_away = true WHERE a.id IN (
         SELECT gone.id FROM targets t JOIN agents gone ON gone.target_key = t.key
         WHERE t.id = $1 AND NOT gone.told_away AND gone.seen_at <= now() - make_interval(secs => $2)
         FOR NO KEY UPDATE OF gone SKIP LOCKED)
       RETURNING a.id, a.organization_id AS "organizationId", a.name, a.seen_at AS "seenAt"`,
      [targetId, AGENT_AWAY_SECONDS],
    );
    for (const { id, organizationId, name, seenAt } of away) {
      await this.audit.write(tx, organizationId, {
        ...SYSTEM_ACTOR,
        eventType: 'AGENT_OFFLINE',
        resourceType: 'AGENT',
        resourceId: id,
        resourceName: name,
        result: 'FAILURE',
        errorMessage: message,
        details: { lastSeenAt: seenAt.toISOString() },
      });
    }
  }

  /** Counts connected and away agents whose host has a resource. */
  async count(tx: Tx): Promise<{ connected: number; away: number }> {
    const [counted] = await tx.query<{ connected: number; away: number }[]>(
      `SELECT count(*) FILTER (WHERE NOT gone)::int AS connected, count(*) FILTER (WHERE gone)::int AS away
       FROM (SELECT a.seen_at <= now() - make_interval(secs => $1) AS gone FROM agents a
         WHERE EXISTS (SELECT FROM targets t JOIN resources r ON r.target_id = t.id
           WHERE t.key = a.target_key AND r.deleted_at IS NULL)) agent`,
      [AGENT_AWAY_SECONDS],
    );
    return counted!;
  }

  async targetOf(tx: Tx, targetKey: string): Promise<string | null> {
    const [target] = await tx.query<{ id: string }[]>('SELECT id FROM targets WHERE key = $1', [targetKey]);
    return target?.id ?? null;
  }

  /**
   * The reported rules whose holders have not changed since they were offered. Changed ones are offered and reported again.
   * @param cleared the host has no other rules than those of the reported version
   */
  async findReported(
    tx: Tx,
    targetId: string,
    ruleIds: readonly string[],
    cleared: boolean,
  ): Promise<string[]> {
    const found = await tx.query<{ id: string }[]>(
      `SELECT r.id FROM rules r WHERE r.target_id = $1 AND r.offered_revision = r.revision AND (r.id = ANY ($2::uuid[])
         OR ($3 AND r.state <> 'absent' AND NOT ${IS_HELD}))
       ORDER BY r.id`,
      [targetId, ruleIds, cleared],
    );
    return found.map(({ id }) => id);
  }

  /**
   * Rules without holders that the host's kernel expired more than a minute ago, and that the agent has not reported on
   * since.
   */
  async listEndedByKernel(tx: Tx, targetId: string): Promise<string[]> {
    const ended = await tx.query<{ id: string }[]>(
      `SELECT r.id FROM rules r
       WHERE r.target_id = $1 AND r.state <> 'absent' AND r.offered_until < now() - interval '1 minute'
         AND NOT ${IS_HELD}`,
      [targetId],
    );
    return ended.map(({ id }) => id);
  }
}
