import { createHash } from 'node:crypto';
import {
  DEFAULT_MAX_SILENCE_SECONDS,
  parsePorts,
  trafficOf,
  unionOf,
  withoutCovered,
  type OrganizationId,
  type Protocol,
  type Traffic,
  type TrafficConfig,
} from '#rules';
import { HOLDING, type Tx } from '#entities';
import { byKey } from './by-key';
import { IS_RESTORED } from './restore.store';

/** A rule for an agent to enforce. */
interface AgentRule {
  readonly id: string;
  /** an address, or a range in CIDR notation */
  readonly ipAddress: string;
  readonly protocol: Protocol;
  /** none: every port */
  readonly ports: number[];
  /** until its end, rounded up so that it is never removed too early; null: no planned end */
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
  /** the database was restored from a backup, and that is not confirmed: rules that the host does not have are not opened */
  readonly restored: boolean;
}

interface HostRow {
  serverTime: Date;
  released: Traffic[];
  restored: boolean;
  resources: { config: TrafficConfig; isVerified: boolean; isConfirmed: boolean }[];
  rules: HostRule[];
}

/** A rule of a host, desired or not. */
export interface HostRule {
  targetId: string;
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

/** A desired state, and what it was made of. */
export interface ReadState {
  readonly state: AgentState;
  readonly rules: readonly HostRule[];
}

/**
 * Reads the desired state of a host.
 * @param servedVersion the last version offered to its agent; null: none
 */
export async function readState(
  tx: Tx,
  organization: OrganizationId,
  targetKey: string,
  servedVersion: string | null,
): Promise<ReadState> {
  const [host] = await tx.query<HostRow[]>(
    `SELECT clock_timestamp() AS "serverTime", coalesce(a.pending_release, '[]') AS released, ${IS_RESTORED} AS restored,
       ARRAY(SELECT jsonb_build_object('config', r.config, 'isVerified', r.target_verified_at IS NOT NULL,
           'isConfirmed', r.guard_confirmed_at IS NOT NULL)
         FROM resources r WHERE r.organization_id = $1 AND r.target_id = t.id AND r.deleted_at IS NULL) AS resources,
       (SELECT coalesce(json_agg(rule), '[]') FROM (${RULES}) rule) AS rules
     FROM (SELECT $2::text AS key) host LEFT JOIN targets t USING (key)
     LEFT JOIN agents a ON a.organization_id = $1 AND a.target_key = host.key`,
    [organization, targetKey],
  );
  const { serverTime, restored } = host!;
  // the host has no rule that was observed absent: no state names it until an operator confirms
  const rules = host!.rules.map((rule) => ({
    ...rule,
    desired: rule.desired && !(restored && rule.state === 'absent'),
  }));
  const desired = rules.filter((rule) => rule.desired);
  const traffic = hostTraffic(host!);
  const version = versionOf(servedVersion, contentHash(traffic, desired, restored));
  return { state: { version, serverTime, ...traffic, rules: desired.map(toAgentRule), restored }, rules };
}

/** Rules whose offer is not recorded: the state may not be sent before it is. */
export const unrecordedOffers = (rules: readonly HostRule[]): HostRule[] =>
  rules.filter((rule) => !rule.offered || (rule.desired && rule.state === 'absent'));

/** SQL: the rules of the target `t`. */
const RULES = `SELECT r.target_id AS "targetId", r.id, r.address, r.protocol, r.ports, r.revision, r.state,
       r.offered_revision IS NOT DISTINCT FROM r.revision AS offered,
       held.live > 0 AS desired, held.waiting > 0 AS waiting,
       CASE WHEN held.endless = 0 THEN extract(epoch FROM held.ends_at)::text END AS "endsAt",
       CASE WHEN held.endless = 0 THEN extract(epoch FROM held.ends_at - clock_timestamp())::float8 END AS "secondsLeft",
       CASE WHEN held.fixed = 0 AND held.unlimited = 0 THEN held.max_silence END AS "maxSilenceSeconds",
       held.names[1:${MAX_NAMED_HOLDERS}] AS holders
     FROM rules r CROSS JOIN LATERAL (
       SELECT count(*) AS live, count(*) FILTER (WHERE ip.status = 'PENDING') AS waiting,
         count(*) FILTER (WHERE s.id IS NULL) AS fixed, count(*) FILTER (WHERE ends.at IS NULL) AS endless, max(ends.at) AS ends_at,
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
       CROSS JOIN LATERAL (SELECT coalesce(s.expires_at, fixed.expires_at) AS at) ends
       WHERE holder.rule_id = r.id AND holder.released_at IS NULL AND ip.status IN (${HOLDING})
         AND coalesce(ends.at > statement_timestamp(), true)
     ) held
     WHERE r.target_id = t.id AND (r.state <> 'absent' OR r.due_at IS NOT NULL)
     ORDER BY r.key`;

function toAgentRule(rule: HostRule): AgentRule {
  const { id, address, protocol, ports, state, waiting, secondsLeft, maxSilenceSeconds, holders } = rule;
  return {
    id,
    ipAddress: address.replace(address.includes(':') ? /\/128$/ : /\/32$/, ''),
    protocol,
    ports: parsePorts(ports).map(({ from }) => from),
    secondsLeft: secondsLeft === null ? null : Math.ceil(secondsLeft * 1000) / 1000,
    unconfirmed: state !== 'present' || waiting,
    maxSilenceSeconds,
    holders: holders ?? [],
  };
}

type HostTraffic = Pick<AgentState, 'guarded' | 'proposed' | 'confirmed' | 'released'>;

/** What the host's resources name. A port is listed beside its whole protocol: each may be decided apart. */
function hostTraffic({ resources, released }: HostRow): HostTraffic {
  const named = (chosen: HostRow['resources']): Traffic[] =>
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
  rules: readonly HostRule[],
  restored: boolean,
): string {
  const kept = rules.map(({ id, revision, endsAt, maxSilenceSeconds }) => [
    id,
    revision,
    endsAt,
    maxSilenceSeconds,
  ]);
  return createHash('sha256')
    .update(JSON.stringify([guarded, proposed, confirmed, released, kept, restored]))
    .digest('hex')
    .slice(0, 32);
}

/**
 * Versions of a state, such as `7-3f9a…`: a counter of offered states and a content hash. The counter gives a recurring state
 * a new version, so that reports on the earlier one do not apply to it. The hash detects an agent that is ahead of a restored
 * database.
 */
const NONE = '0-';

const countOf = (version: string): number => Number(version.split('-')[0]);

/**
 * @param served the last offered version; null: none
 * @param content hash of the state
 */
function versionOf(served: string | null, content: string): string {
  const last = served ?? NONE;
  return last.endsWith(`-${content}`) ? last : `${countOf(last) + 1}-${content}`;
}

/** Invalidates the last offered version: reports on it no longer apply. */
export const withoutContent = (served: string | null): string => `${countOf(served ?? NONE) + 1}-`;
