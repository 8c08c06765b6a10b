import {
  HOLDING_STATUSES,
  keepsRule,
  parsePorts,
  type AdditionCause,
  type DueRule,
  type OrganizationId,
  type RemovalCause,
  type Protocol,
  type ResourceConfig,
  type ResourceIpStatus,
  type RuleSpec,
  type RuleState,
} from '#rules';
import { HOLDING, type Tx } from '#entities';
import type { Lease } from './lease.store';
import { byKey } from './by-key';

/** The way into a target: whose credential, and the region it is asked in. */
export interface Access {
  readonly credentialId: string;
  readonly region: string | null;
}

/** A way, and what is known of it. */
export interface KnownAccess extends Access {
  /** whose credential it is */
  readonly organizationId: OrganizationId;
  /** a target refused the credential: milliseconds until it is tried again, not above 0 when that is over; null: none did */
  readonly deniedMs: number | null;
}

export interface HolderRow {
  readonly resourceIpId: string;
  readonly status: ResourceIpStatus;
  /** since when it waits there, as the database writes it */
  readonly pendingSince: string;
  /** why it wants the rule */
  readonly cause: AdditionCause;
  readonly access: KnownAccess;
  /** its resource's last verification, with the credential it has now, proved that it may write */
  readonly writeVerified: boolean;
  /** its resource was given up, for this reason: what is left of the holder is not waited for */
  readonly abandoned: string | null;
  /** the resource's */
  readonly config: ResourceConfig;
  /** seconds since 1970; null: no end is planned */
  readonly expiresAt: number | null;
  readonly expired: boolean;
}

/** A rule that is due, with its holders: those that wait, those that hold it and those that are being removed. */
export interface DueRuleRow extends DueRule {
  readonly spec: RuleSpec;
  readonly state: RuleState;
  /** it was last seen standing without being ours */
  readonly isUnmanaged: boolean;
  readonly revision: number;
  readonly attempts: number;
  /** how long a call that nobody heard of may still land */
  readonly inFlightMs: number;
  /** there was such a call, and nobody has looked since it can land no more */
  readonly inDoubt: boolean;
  /** for how long that way has led to no target; null: it did when it was last taken */
  readonly targetMissingMs: number | null;
  /** the way it was written; null when it never was */
  readonly writtenWith: Access | null;
  /** whose credential that is */
  readonly writerOrganizationId: string | null;
  readonly lastError: string | null;
  /** it was noted that it is unwanted */
  readonly isUnwanted: boolean;
  readonly isMissing: boolean;
  readonly isUnmarked: boolean;
  /** why it is not waited for: every resource that it was for was given up; null: it is */
  readonly abandoned: string | null;
  readonly holders: readonly HolderRow[];
}

/** That a call is about to be made. */
export interface Intent {
  /** until then an earlier write of the object's whole list may land that nobody has heard of */
  readonly inDoubtUntil: Date | null;
  /** what may be sent: without the rules that nobody wants added any more */
  readonly ruleIds: readonly string[];
}

/** A due rule as the statement returns it. */
export interface RawDueRow {
  ruleId: string;
  key: string;
  address: string;
  protocol: Protocol;
  ports: string;
  state: RuleState;
  isUnmanaged: boolean;
  revision: number;
  attempts: number;
  inFlightMs: number | null;
  targetMissingMs: number | null;
  seenAs: string | null;
  credentialId: string | null;
  region: string | null;
  writerOrganizationId: string | null;
  lastError: string | null;
  cause: RemovalCause | null;
  isUnwanted: boolean;
  isMissing: boolean;
  isUnmarked: boolean;
  holders: HolderRow[];
}

/** What was written is compared with the cloud by then, however seldom its object was looked at before. */
const COMPARE_AFTER_WRITE = '45 seconds';
/** By then what a worker sent that has lost its lease has landed or never will. */
const COMPARE_AFTER_LOSS = '20 seconds';

/** No call is waited for longer; more than that was noted before the database's clock was set back. */
const MAX_IN_FLIGHT = '10 minutes';

const isLive = ({ status }: HolderRow): boolean => HOLDING_STATUSES.some((holding) => holding === status);

/** @returns why it is to be removed; null while a holder keeps it */
function removalCause(row: RawDueRow, live: readonly HolderRow[]): RemovalCause | null {
  if (live.length === 0) return row.cause ?? 'UNRECORDED';
  const keepers = live.map(({ access, writeVerified }) => ({
    organizationId: access.organizationId,
    writeVerified,
  }));
  // what is not there yet is written by whoever waits for it
  const isKept = row.state === 'absent' || keepers.some((holder) => keepsRule(holder, row));
  return isKept ? null : 'WRITER_RELEASED';
}

/** What follows from the row: whether it is desired, and why it is not. */
export function toDueRule(row: RawDueRow): DueRuleRow {
  const inFlightMs = Math.max(0, row.inFlightMs ?? 0);
  const live = row.holders.filter(isLive);
  const cause = removalCause(row, live);
  return {
    ruleId: row.ruleId,
    key: row.key,
    desired: cause === null,
    mayOpen: live.some((holder) => !holder.expired),
    addCause: row.isMissing ? 'DRIFT_REPAIRED' : (live[0]?.cause ?? 'SESSION_STARTED'),
    removeCause: cause ?? 'UNRECORDED',
    inFlight: inFlightMs > 0,
    inFlightMs,
    inDoubt: row.inFlightMs !== null,
    targetMissingMs: row.targetMissingMs,
    seenAs: row.seenAs,
    spec: { address: row.address, protocol: row.protocol, ports: parsePorts(row.ports) },
    state: row.state,
    isUnmanaged: row.isUnmanaged,
    revision: row.revision,
    attempts: row.attempts,
    writtenWith: row.credentialId ? { credentialId: row.credentialId, region: row.region } : null,
    writerOrganizationId: row.writerOrganizationId,
    lastError: row.lastError,
    isUnwanted: row.isUnwanted,
    isMissing: row.isMissing,
    isUnmarked: row.isUnmarked,
    abandoned: row.holders.every(({ abandoned }) => abandoned !== null)
      ? (row.holders[0]?.abandoned ?? null)
      : null,
    holders: row.holders,
  };
}

/** What convergence reads and marks. It serves every organization at once: a target may belong to several. */
export class ConvergenceStore {
  /** Rules of the object that are due, those nobody wants first. */
  async due(tx: Tx, lease: Lease, limit: number): Promise<DueRuleRow[]> {
    const rows = await tx.query<RawDueRow[]>(
      `SELECT r.id AS "ruleId", r.key, r.address, r.protocol, r.ports, r.state, r.is_unmanaged AS "isUnmanaged",
         r.revision, r.attempts, r.cause, r.last_error AS "lastError", r.is_missing AS "isMissing",
         r.unwanted_since IS NOT NULL AS "isUnwanted", r.is_unmarked AS "isUnmarked",
         extract(epoch FROM greatest(
           CASE WHEN r.in_flight_until <= now() + interval '${MAX_IN_FLIGHT}' THEN r.in_flight_until
             WHEN r.in_flight_until IS NOT NULL THEN now() END,
           CASE WHEN t.in_flight_until BETWEEN now() AND now() + interval '${MAX_IN_FLIGHT}' THEN t.in_flight_until END)
           - now())::float8 * 1000 AS "inFlightMs",
         extract(epoch FROM now() - r.target_missing_since)::float8 * 1000 AS "targetMissingMs",
         r.credential_id AS "credentialId", r.region,
         (SELECT organization_id FROM credentials WHERE id = r.credential_id) AS "writerOrganizationId",
         CASE WHEN NOT r.is_unmanaged THEN r.provider_rule_id END AS "seenAs",
         ARRAY(
           SELECT jsonb_build_object('resourceIpId', ip.id, 'status', CASE WHEN h.released_at IS NULL THEN ip.status ELSE 'REMOVING' END,
             'pendingSince', ip.pending_since::text, 'cause', h.cause,
             'expired', coalesce(s.expires_at <= now(), false),
             'expiresAt', extract(epoch FROM s.expires_at)::bigint,
             'config', res.config, 'writeVerified', res.write_verified,
             'abandoned', CASE WHEN res.abandoned_at IS NOT NULL THEN coalesce(res.abandon_reason, '') END,
             'access', jsonb_build_object('credentialId', res.credential_id, 'region', res.region,
               'organizationId', res.organization_id,
               'deniedMs', extract(epoch FROM c.denied_until - now()) * 1000))
           FROM rule_holders h
           CROSS JOIN LATERAL ${byKey('resource_ips', 'h.resource_ip_id')} ip
           LEFT JOIN sessions s ON s.id = ip.session_id
           JOIN resources res ON res.id = ip.resource_id
           JOIN credentials c ON c.id = res.credential_id
           WHERE h.rule_id = r.id AND ip.status IN (${HOLDING}, 'REMOVING')
         ) AS holders
       FROM rules r JOIN targets t ON t.id = r.target_id
       WHERE r.target_id = $1 AND r.due_at <= now()
       ORDER BY EXISTS (
         SELECT FROM rule_holders h
         CROSS JOIN LATERAL ${byKey('resource_ips', 'h.resource_ip_id')} ip
         WHERE h.rule_id = r.id AND h.released_at IS NULL AND ip.status IN (${HOLDING})
       ), r.due_at, r.id
       LIMIT $2`,
      [lease.targetId, limit],
    );
    return rows.map(toDueRule);
  }

  /** Every rule of the object that stands by our record, or may. */
  standing(tx: Tx, lease: Lease): Promise<Pick<DueRuleRow, 'ruleId' | 'key' | 'state' | 'isUnmanaged'>[]> {
    return tx.query(
      `SELECT id AS "ruleId", key, state, is_unmanaged AS "isUnmanaged" FROM rules WHERE target_id = $1 AND state <> 'absent'`,
      [lease.targetId],
    );
  }

  /**
   * Notes, before the cloud is called, that it may soon hold or lose these rules. What is added was just observed absent:
   * it is not certain any more that it was present since it was first observed.
   * @param changes `wholeList`: they go out with everything else in the list, so that a call which nobody hears of
   *   concerns every rule of the object
   * @param horizonSeconds how long a change may take to land: an add when nobody wants it any more, a removal when
   *   somebody wants it again
   * @returns null when the lease is lost: then nothing may be sent
   */
  async recordIntent(
    tx: Tx,
    lease: Lease,
    changes: {
      additions: readonly string[];
      removals: readonly string[];
      access: Access;
      wholeList: boolean;
    },
    horizonSeconds: number,
  ): Promise<Intent | null> {
    const [marked] = await tx.query<Intent[]>(
      `WITH fence AS (
           UPDATE targets t SET last_write_at = now(),
             reconcile_due_at = least(reconcile_due_at, now() + interval '${COMPARE_AFTER_WRITE}'),
             last_write_size = cardinality($3::uuid[]) + cardinality($4::uuid[]),
             in_flight_until = CASE WHEN $8 THEN now() + make_interval(secs => $7) END
           FROM (SELECT id, in_flight_until FROM targets WHERE id = $1) old
           WHERE t.id = old.id AND lease_generation = $2 AND lease_until > now() RETURNING old.in_flight_until AS inDoubt
         ), noted AS (
         -- an earlier settlement of the same round may have ended whoever desired an addition when it was read
         UPDATE rules SET state = 'unknown',
           in_flight_until = now() + make_interval(secs => $7),
           is_unmanaged = is_unmanaged AND NOT id = ANY ($3::uuid[]),
           provider_rule_id = CASE WHEN NOT is_unmanaged OR NOT id = ANY ($3::uuid[]) THEN provider_rule_id END,
           credential_id = CASE WHEN id = ANY ($3::uuid[]) THEN $5 ELSE credential_id END,
           region = CASE WHEN id = ANY ($3::uuid[]) THEN $6 ELSE region END,
           possible_since = CASE WHEN id = ANY ($3::uuid[]) THEN coalesce(possible_since, now()) ELSE possible_since END,
           present_since = CASE WHEN NOT id = ANY ($3::uuid[]) THEN present_since END,
           observed_at = CASE WHEN NOT id = ANY ($3::uuid[]) THEN observed_at END,
           removal_sent_at = CASE WHEN id = ANY ($4::uuid[]) THEN coalesce(removal_sent_at, now())
             WHEN state = 'absent' THEN NULL ELSE removal_sent_at END
         FROM fence
         WHERE id = ANY ($4::uuid[]) OR (id = ANY ($3::uuid[])
           AND EXISTS (SELECT FROM rule_holders h WHERE h.rule_id = rules.id AND h.released_at IS NULL))
         RETURNING id)
         SELECT fence.inDoubt AS "inDoubtUntil", ARRAY(SELECT id FROM noted) AS "ruleIds" FROM fence`,
      [
        lease.targetId,
        lease.generation,
        changes.additions,
        changes.removals,
        changes.access.credentialId,
        changes.access.region,
        horizonSeconds,
        changes.wholeList,
      ],
    );
    return marked ?? null;
  }

  /** The write of a whole list was answered: only an earlier one that nobody has heard of may still land. */
  async heard(tx: Tx, lease: Lease, { inDoubtUntil }: Intent): Promise<void> {
    await tx.query('UPDATE targets SET in_flight_until = $3 WHERE id = $1 AND lease_generation = $2', [
      lease.targetId,
      lease.generation,
      inDoubtUntil,
    ]);
  }

  /**
   * Asks for another pass over rules whose outcome a late worker may have changed. Never wrong, so never fenced. Of a
   * rule that was deleted meanwhile, what the late worker wrote is an orphan: its target is compared soon.
   */
  async lookAgain(tx: Tx, { targetId }: Lease, ruleIds: readonly string[]): Promise<void> {
    await tx.query(
      `WITH again AS (
         UPDATE rules SET state = 'unknown', due_at = now(), revision = revision + 1 WHERE id = ANY ($2::uuid[]) RETURNING id
       )
       UPDATE targets SET reconcile_due_at = least(reconcile_due_at, now() + interval '${COMPARE_AFTER_LOSS}')
       WHERE id = $1 AND (SELECT count(*) FROM again) < cardinality($2::uuid[])`,
      [targetId, ruleIds],
    );
  }

  /** Looks again at a rule later, unless its holders have changed since it was read. */
  async putOff(
    tx: Tx,
    { ruleId, revision }: Pick<DueRuleRow, 'ruleId' | 'revision'>,
    message: string,
    seconds: number,
  ): Promise<void> {
    await tx.query(
      `UPDATE rules SET attempts = attempts + 1, due_at = now() + make_interval(secs => $4), last_error = $3
       WHERE id = $1 AND revision = $2`,
      [ruleId, revision, message, seconds],
    );
  }

  /** A target refused the credential, or took it again. What was denied several times in a row waits longer each time. */
  async noteDenial(tx: Tx, { credentialId }: Access, isDenied: boolean): Promise<void> {
    await tx.query(
      isDenied
        ? `UPDATE credentials SET denials = denials + 1,
             denied_until = now() + least(interval '30 seconds', interval '1 second' * 2 ^ least(denials, 5)) WHERE id = $1`
        : `UPDATE credentials SET denials = 0, denied_until = NULL WHERE id = $1 AND denied_until IS NOT NULL`,
      [credentialId],
    );
  }
}
