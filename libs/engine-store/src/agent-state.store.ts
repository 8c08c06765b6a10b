import { createHash } from 'node:crypto';
import {
  DEFAULT_MAX_SILENCE_SECONDS,
  parsePorts,
  trafficOf,
  unionOf,
  withoutCovered,
  type OrganizationId,
  type Protocol,
  type RuleSpec,
  type Traffic,
  type TrafficConfig,
} from '#rules';
import type { ServingAgent } from './agent.store';
import { versionOf } from './agent-version';
import { byKey } from './by-key';
import { HOLDING, type TenantStore, type Tx, returned } from '#entities';

/** Notification channel: the payload is the key of a host whose desired state may have changed. */
export const AGENT_STATES_CHANNEL = 'agent_states';

/** A rule for an agent to enforce. */
export interface AgentRule extends RuleSpec {
  readonly id: string;
  /** until its end; null: no planned end */
  readonly secondsLeft: number | null;
  /** a holder waits for a report that it is present */
  readonly unconfirmed: boolean;
  /** the host closes it after this long without an answer of the server; null: never for that reason */
  readonly maxSilenceSeconds: number | null;
  /** for the host's log: at most `MAX_NAMED_HOLDERS` of those that are live */
  readonly holders: readonly NamedHolder[];
}

/** Who a rule is for: a session and its user's e-mail address, or a static IP rule's label. */
interface NamedHolder {
  readonly sessionId: string | null;
  readonly user: string | null;
  readonly label: string | null;
}

/** The desired firewall state of a host. */
export interface AgentState {
  /** changes exactly when there is something new to enforce or to report */
  readonly version: string;
  readonly serverTime: Date;
  /** of resources that were verified for this host */
  readonly guarded: readonly Traffic[];
  /** of resources that were never verified, without what is guarded: it stays as it is */
  readonly proposed: readonly Traffic[];
  /** the part of `guarded` that may cut established connections */
  readonly confirmed: readonly Traffic[];
  /** what the host is no longer to guard */
  readonly released: readonly Traffic[];
  readonly rules: readonly AgentRule[];
}

interface RawHost {
  serverTime: Date;
  targetId: string | null;
  released: Traffic[];
  resources: { config: TrafficConfig; isVerified: boolean; isConfirmed: boolean }[];
}

interface RawRule {
  id: string;
  address: string;
  protocol: Protocol;
  ports: string;
  revision: number;
  state: string;
  offered: boolean;
  desired: boolean;
  waiting: boolean;
  endsAt: string | null;
  secondsLeft: number | null;
  maxSilenceSeconds: number | null;
  holders: NamedHolder[] | null;
}

/** Holders of a rule that a state names. */
const MAX_NAMED_HOLDERS = 5;
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
    organization: OrganizationId,
    { targetKey, servedVersion }: Pick<ServingAgent, 'targetKey' | 'servedVersion'>,
  ): Promise<{ state: AgentState; rules: RawRule[] }> {
    const [host] = await tx.query<RawHost[]>(
      `SELECT clock_timestamp() AS "serverTime", t.id AS "targetId", coalesce(a.pending_release, '[]') AS released,
         ARRAY(SELECT jsonb_build_object('config', r.config, 'isVerified', r.target_verified_at IS NOT NULL,
             'isConfirmed', r.guard_confirmed_at IS NOT NULL)
           FROM resources r WHERE r.organization_id = $1 AND r.target_id = t.id AND r.deleted_at IS NULL) AS resources
       FROM (SELECT 1) one LEFT JOIN targets t ON t.key = $2
         LEFT JOIN agents a ON a.organization_id = $1 AND a.target_key = $2`,
      [organization, targetKey],
    );
    const rules = host!.targetId === null ? [] : await this.rules(tx, host!.targetId);
    const desired = rules.filter((rule) => rule.desired);
    const traffic = hostTraffic(host!);
    const state = {
      version: versionOf(servedVersion, contentHash(traffic, desired)),
      serverTime: host!.serverTime,
      ...traffic,
      rules: desired.map(toAgentRule),
    };
    return { state, rules };
  }

  private rules(tx: Tx, targetId: string): Promise<RawRule[]> {
    return tx.query(
      `SELECT r.id, r.address, r.protocol, r.ports, r.revision, r.state,
         r.offered_revision IS NOT DISTINCT FROM r.revision AS offered,
         held.live > 0 AS desired, held.waiting > 0 AS waiting,
         CASE WHEN held.endless = 0 THEN extract(epoch FROM held.ends_at)::text END AS "endsAt",
         CASE WHEN held.endless = 0 THEN extract(epoch FROM held.ends_at - clock_timestamp())::float8 END AS "secondsLeft",
         CASE WHEN held.endless = 0 AND held.unlimited = 0 THEN held.max_silence END AS "maxSilenceSeconds",
         held.names[1:${MAX_NAMED_HOLDERS}] AS holders
       FROM rules r CROSS JOIN LATERAL (
         SELECT count(*) AS live, count(*) FILTER (WHERE ip.status = 'PENDING') AS waiting,
           count(*) FILTER (WHERE s.id IS NULL) AS endless, max(s.expires_at) AS ends_at,
           count(*) FILTER (WHERE own.config -> 'maxSilenceSeconds' = 'null') AS unlimited,
           max(coalesce((own.config ->> 'maxSilenceSeconds')::int, ${DEFAULT_MAX_SILENCE_SECONDS})) AS max_silence,
           array_agg(jsonb_build_object('sessionId', s.id, 'user', u.email, 'label', fixed.label)
             ORDER BY ip.created_at, ip.id) AS names
         FROM rule_holders holder
         CROSS JOIN LATERAL ${byKey('resource_ips', 'holder.resource_ip_id')} ip
         LEFT JOIN resources own ON own.id = ip.resource_id
         LEFT JOIN sessions s ON s.id = ip.session_id
         LEFT JOIN users u ON u.id = s.user_id
         LEFT JOIN static_ip_rules fixed ON fixed.id = ip.static_ip_rule_id
         WHERE holder.rule_id = r.id AND holder.released_at IS NULL AND ip.status IN (${HOLDING})
           AND (s.id IS NULL OR s.expires_at > statement_timestamp())
       ) held
       WHERE r.target_id = $1 AND (r.state <> 'absent' OR r.due_at IS NOT NULL)
       ORDER BY r.key`,
      [targetId],
    );
  }

  /** @returns false when a rule has changed since it was read: the state may not be sent */
  private async noteOffered(tx: Tx, rules: readonly RawRule[]): Promise<boolean> {
    const fresh = rules.filter((rule) => !rule.offered || (rule.desired && rule.state === 'absent'));
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
         FROM jsonb_to_recordset($1::jsonb) AS o(id uuid, revision int, desired boolean, "endsAt" float8)
         WHERE r.id = o.id AND r.revision = o.revision RETURNING 1`,
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

function toAgentRule(rule: RawRule): AgentRule {
  const { id, address, protocol, ports, state, waiting, secondsLeft, maxSilenceSeconds, holders } = rule;
  return {
    id,
    address,
    protocol,
    ports: parsePorts(ports),
    secondsLeft,
    unconfirmed: state !== 'present' || waiting,
    maxSilenceSeconds,
    holders: holders ?? [],
  };
}

type HostTraffic = Pick<AgentState, 'guarded' | 'proposed' | 'confirmed' | 'released'>;

/** What the host's resources name. A port is listed beside its whole protocol: each may be decided apart. */
function hostTraffic({ resources, released }: RawHost): HostTraffic {
  const named = (chosen: RawHost['resources']): Traffic[] =>
    unionOf(...chosen.map(({ config }) => trafficOf(config)));
  const verified = resources.filter(({ isVerified }) => isVerified);
  const guarded = named(verified);
  return {
    guarded,
    proposed: withoutCovered(named(resources.filter(({ isVerified }) => !isVerified)), guarded),
    confirmed: named(verified.filter(({ isConfirmed }) => isConfirmed)),
    released,
  };
}

/** The revision of a rule grows with every change of its holders, each of which waits for a report. */
function contentHash(
  { guarded, proposed, confirmed, released }: HostTraffic,
  rules: readonly RawRule[],
): string {
  const kept = rules.map(({ id, revision, endsAt, maxSilenceSeconds }) => [
    id,
    revision,
    endsAt,
    maxSilenceSeconds,
  ]);
  return createHash('sha256')
    .update(JSON.stringify([guarded, proposed, confirmed, released, kept]))
    .digest('hex')
    .slice(0, 32);
}
