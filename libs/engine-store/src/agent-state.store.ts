import { createHash } from 'node:crypto';
import {
  parsePorts,
  ruleSpecs,
  type GuardedTraffic,
  type OrganizationId,
  type Protocol,
  type RuleSpec,
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
}

/** The desired firewall state of a host. */
export interface AgentState {
  /** changes exactly when there is something new to enforce or to report */
  readonly version: string;
  readonly serverTime: Date;
  readonly guarded: readonly GuardedTraffic[];
  readonly rules: readonly AgentRule[];
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
}

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
    const [host] = await tx.query<{ serverTime: Date; targetId: string | null; configs: TrafficConfig[] }[]>(
      `SELECT clock_timestamp() AS "serverTime", t.id AS "targetId",
         ARRAY(SELECT r.config FROM resources r WHERE r.organization_id = $1 AND r.target_id = t.id
           AND r.deleted_at IS NULL) AS configs
       FROM (SELECT 1) one LEFT JOIN targets t ON t.key = $2`,
      [organization, targetKey],
    );
    const rules = host!.targetId === null ? [] : await this.rules(tx, host!.targetId);
    const guarded = guardedTraffic(host!.configs);
    const desired = rules.filter((rule) => rule.desired);
    const state = {
      version: versionOf(servedVersion, contentHash(guarded, desired)),
      serverTime: host!.serverTime,
      guarded,
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
         CASE WHEN held.endless = 0 THEN extract(epoch FROM held.ends_at - clock_timestamp())::float8 END AS "secondsLeft"
       FROM rules r CROSS JOIN LATERAL (
         SELECT count(*) AS live, count(*) FILTER (WHERE ip.status = 'PENDING') AS waiting,
           count(*) FILTER (WHERE s.id IS NULL) AS endless, max(s.expires_at) AS ends_at
         FROM rule_holders holder
         CROSS JOIN LATERAL ${byKey('resource_ips', 'holder.resource_ip_id')} ip
         LEFT JOIN sessions s ON s.id = ip.session_id
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
           removal_sent_at = CASE WHEN o.desired THEN NULL ELSE coalesce(r.removal_sent_at, now()) END
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

function toAgentRule({ id, address, protocol, ports, state, waiting, secondsLeft }: RawRule): AgentRule {
  return {
    id,
    address,
    protocol,
    ports: parsePorts(ports),
    secondsLeft,
    unconfirmed: state !== 'present' || waiting,
  };
}

/** The traffic guarded by the host's resources, without duplicates. */
function guardedTraffic(configs: readonly TrafficConfig[]): GuardedTraffic[] {
  const specs = configs.flatMap((config) => ruleSpecs('', config, 'many'));
  const portsOf = new Map<Protocol, Set<number> | 'all'>();
  for (const { protocol, ports } of specs) {
    const known = portsOf.get(protocol) ?? new Set<number>();
    if (known === 'all' || ports.length === 0) portsOf.set(protocol, 'all');
    else portsOf.set(protocol, new Set([...known, ...ports.map(({ from }) => from)]));
  }
  return [...portsOf]
    .sort(([one], [other]) => one.localeCompare(other))
    .map(([protocol, ports]) => ({
      protocol,
      ports:
        ports === 'all' ? [] : [...ports].sort((a, b) => a - b).map((port) => ({ from: port, to: port })),
    }));
}

/** The revision of a rule grows with every change of its holders, each of which waits for a report. */
function contentHash(guarded: readonly GuardedTraffic[], rules: readonly RawRule[]): string {
  const kept = rules.map(({ id, revision, endsAt }) => [id, revision, endsAt]);
  return createHash('sha256')
    .update(JSON.stringify([guarded, kept]))
    .digest('hex')
    .slice(0, 32);
}
