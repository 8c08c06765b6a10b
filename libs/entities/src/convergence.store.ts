import {
  HOLDING_STATUSES,
  parsePorts,
  type DueRule,
  type Protocol,
  type ResourceConfig,
  type ResourceIpStatus,
  type RuleSpec,
  type RuleState,
} from '#rules';
import { returned, type Tx } from './database';
import type { Lease } from './lease.store';
import { byKey } from './by-key';
import { HOLDING } from './status-lists';

/** The way into a cloud object: whose credential, and the region it is asked in. */
export interface Access {
  readonly credentialId: string;
  readonly region: string | null;
}

export interface HolderRow {
  readonly resourceIpId: string;
  readonly status: ResourceIpStatus;
  /** since when it waits there, as the database writes it */
  readonly pendingSince: string;
  readonly access: Access;
  /** the resource's */
  readonly config: ResourceConfig;
  /** seconds since 1970; null: no end is planned */
  readonly expiresAt: number | null;
  readonly expired: boolean;
}

/** A rule to look at now, with everybody who holds it or is letting it go. */
export interface DueRuleRow extends DueRule {
  readonly spec: RuleSpec;
  readonly state: RuleState;
  /** it was last seen standing without being ours */
  readonly isForeign: boolean;
  readonly revision: number;
  readonly attempts: number;
  /** how long a call that nobody heard of may still land */
  readonly inFlightMs: number;
  /** there was such a call, and nobody has looked since it can land no more */
  readonly unheard: boolean;
  /** for how long that way has led to no cloud object; null: it did when it was last taken */
  readonly targetMissingMs: number | null;
  /** the way it was written; null when it never was */
  readonly writtenWith: Access | null;
  readonly holders: readonly HolderRow[];
}

/** That a call is about to be made. */
export interface Intent {
  /** until then an earlier write of the object's whole list may land that nobody has heard of */
  readonly unheardUntil: Date | null;
}

interface RawDueRow {
  ruleId: string;
  key: string;
  address: string;
  protocol: Protocol;
  ports: string;
  state: RuleState;
  isForeign: boolean;
  revision: number;
  attempts: number;
  inFlightMs: number | null;
  targetMissingMs: number | null;
  seenAs: string | null;
  credentialId: string | null;
  region: string | null;
  holders: HolderRow[];
}

/** What was written is compared with the cloud by then, however seldom its object was looked at before. */
const LOOK_AFTER_WRITE = '45 seconds';

const isHolding = ({ status }: HolderRow): boolean => HOLDING_STATUSES.some((holding) => holding === status);

function toDueRule(row: RawDueRow): DueRuleRow {
  const inFlightMs = Math.max(0, row.inFlightMs ?? 0);
  const holding = row.holders.filter(isHolding);
  return {
    ruleId: row.ruleId,
    key: row.key,
    wanted: holding.length > 0,
    mayOpen: holding.some((holder) => !holder.expired),
    inFlight: inFlightMs > 0,
    inFlightMs,
    unheard: row.inFlightMs !== null,
    targetMissingMs: row.targetMissingMs,
    seenAs: row.seenAs,
    spec: { address: row.address, protocol: row.protocol, ports: parsePorts(row.ports) },
    state: row.state,
    isForeign: row.isForeign,
    revision: row.revision,
    attempts: row.attempts,
    writtenWith: row.credentialId ? { credentialId: row.credentialId, region: row.region } : null,
    holders: row.holders,
  };
}

/** What convergence reads and marks. It serves every organization at once: a cloud object may belong to several. */
export class ConvergenceStore {
  /** Rules of the object that are due, those nobody wants first. */
  async due(tx: Tx, lease: Lease, limit: number): Promise<DueRuleRow[]> {
    const rows = await tx.query<RawDueRow[]>(
      `SELECT r.id AS "ruleId", r.key, r.address, r.protocol, r.ports, r.state, r.is_foreign AS "isForeign",
         r.revision, r.attempts,
         extract(epoch FROM greatest(r.in_flight_until, CASE WHEN t.in_flight_until > now() THEN t.in_flight_until END)
           - now())::float8 * 1000 AS "inFlightMs",
         extract(epoch FROM now() - r.target_missing_since)::float8 * 1000 AS "targetMissingMs", r.credential_id AS "credentialId", r.region,
         CASE WHEN NOT r.is_foreign THEN r.provider_rule_id END AS "seenAs",
         ARRAY(
           SELECT jsonb_build_object('resourceIpId', ip.id, 'status', ip.status, 'pendingSince', ip.pending_since::text,
             'expired', coalesce(s.expires_at <= now(), false),
             'expiresAt', extract(epoch FROM s.expires_at)::bigint,
             'config', res.config, 'access', jsonb_build_object('credentialId', res.credential_id, 'region', res.region))
           FROM rule_holders holder
           CROSS JOIN LATERAL ${byKey('resource_ips', 'holder.resource_ip_id')} ip
           LEFT JOIN sessions s ON s.id = ip.session_id
           JOIN resources res ON res.id = ip.resource_id
           WHERE holder.rule_id = r.id AND ip.status IN (${HOLDING}, 'REMOVING')
         ) AS holders
       FROM rules r JOIN targets t ON t.id = r.target_id
       WHERE r.target_id = $1 AND r.due_at <= now()
       ORDER BY EXISTS (
         SELECT FROM rule_holders holder
         CROSS JOIN LATERAL ${byKey('resource_ips', 'holder.resource_ip_id')} ip
         WHERE holder.rule_id = r.id AND ip.status IN (${HOLDING})
       ), r.due_at, r.id
       LIMIT $2`,
      [lease.targetId, limit],
    );
    return rows.map(toDueRule);
  }

  /** Every rule of the object that stands by our record, or may. */
  standing(tx: Tx, lease: Lease): Promise<Pick<DueRuleRow, 'ruleId' | 'key' | 'state' | 'isForeign'>[]> {
    return tx.query(
      `SELECT id AS "ruleId", key, state, is_foreign AS "isForeign" FROM rules WHERE target_id = $1 AND state <> 'absent'`,
      [lease.targetId],
    );
  }

  /**
   * Notes, before the cloud is called, that it may soon hold or lose these rules.
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
    const [marked] = returned<Intent>(
      await tx.query(
        `WITH fence AS (
           UPDATE targets t SET last_write_at = now(),
             reconcile_due_at = least(reconcile_due_at, now() + interval '${LOOK_AFTER_WRITE}'),
             last_write_size = cardinality($3::uuid[]) + cardinality($4::uuid[]),
             in_flight_until = CASE WHEN $8 THEN now() + make_interval(secs => $7) END
           FROM (SELECT id, in_flight_until FROM targets WHERE id = $1) old
           WHERE t.id = old.id AND lease_generation = $2 AND lease_until > now() RETURNING old.in_flight_until AS unheard
         )
         UPDATE rules SET state = 'unknown',
           in_flight_until = now() + make_interval(secs => $7),
           is_foreign = is_foreign AND NOT id = ANY ($3::uuid[]),
           provider_rule_id = CASE WHEN NOT is_foreign OR NOT id = ANY ($3::uuid[]) THEN provider_rule_id END,
           credential_id = CASE WHEN id = ANY ($3::uuid[]) THEN $5 ELSE credential_id END,
           region = CASE WHEN id = ANY ($3::uuid[]) THEN $6 ELSE region END
         FROM fence
         WHERE (id = ANY ($3::uuid[]) OR id = ANY ($4::uuid[])) RETURNING fence.unheard AS "unheardUntil"`,
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
      ),
    );
    return marked ?? null;
  }

  /** The write of a whole list was answered: only an earlier one that nobody has heard of may still land. */
  async heard(tx: Tx, lease: Lease, { unheardUntil }: Intent): Promise<void> {
    await tx.query('UPDATE targets SET in_flight_until = $3 WHERE id = $1 AND lease_generation = $2', [
      lease.targetId,
      lease.generation,
      unheardUntil,
    ]);
  }

  /** Asks for another look at rules whose outcome a late worker may have changed. Never wrong, so never fenced. */
  async lookAgain(tx: Tx, ruleIds: readonly string[]): Promise<void> {
    await tx.query(
      `UPDATE rules SET state = 'unknown', due_at = now(), revision = revision + 1 WHERE id = ANY ($1::uuid[])`,
      [ruleIds],
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
}
