import { type AuditEntry, AuditTrail, HOLDING, SYSTEM_ACTOR, type Tx, rows } from '#entities';
import { grouped } from '#rules';
import {
  COMPARED_RESOURCE,
  type AccessPath,
  type HealthReport,
  type KnownRules,
  type NamingResource,
} from './comparison';
import type { DueComparison, Lease } from './lease.store';

/** Interval between comparisons. Together with the time of the repair, drift is repaired within a minute. */
export const COMPARISON_INTERVAL_SECONDS = 45;
/** Limit per credential over all its targets: a quarter of the EC2 read limit of an account. */
const READS_PER_SECOND = 5;
/** While no access path reaches the target; with rules of ours, the longest wait. */
const UNREACHABLE_INTERVAL_SECONDS = 600;

/** Between removals from one target of rules that another installation may have made. */
const UNISSUED_INTERVAL_MINUTES = 10;

export interface UnissuedIds {
  /** the id in our marks */
  readonly deploymentId: string;
  readonly ids: readonly string[];
  /** a rule with such an id was removed from the target a short time ago */
  readonly hasRemoved: boolean;
}

/** Schedules and reads comparisons of targets with the database. Serves all organizations, as convergence does. */
export class ComparisonStore {
  private readonly audit = new AuditTrail();

  /** @param intervalSeconds between two comparisons of one target */
  constructor(private readonly intervalSeconds = COMPARISON_INTERVAL_SECONDS) {}

  /**
   * Finishes a comparison: schedules the next one, unless one was requested meanwhile, and records that everything
   * recorded as present was observed. Call it in a transaction that began before the age was computed, so that a delayed
   * statement does not make the read look newer than it is.
   * @param unmanagedDigest of the unmanaged rules; null: the target was not read
   * @param startedAgoMs age of the read
   */
  async finish(
    tx: Tx,
    targetId: string,
    { againAt }: DueComparison,
    unmanagedDigest: string | null,
    startedAgoMs: number,
  ): Promise<void> {
    await tx.query(
      `UPDATE targets SET
         compared_at = CASE WHEN $5::text IS NULL THEN compared_at ELSE now() - make_interval(secs => $6::float8 / 1000) END,
         unmanaged_digest = coalesce($5, unmanaged_digest),
         reconcile_requested = reconcile_requested AND reconcile_due_at <> $2::timestamptz,
         reconcile_due_at = CASE WHEN reconcile_due_at <> $2::timestamptz THEN reconcile_due_at
           ELSE now() + make_interval(secs => greatest($3::float8, (
             SELECT max(reached.count) FROM (SELECT DISTINCT credential_id FROM resources WHERE target_id = $1) path
             CROSS JOIN LATERAL (
               SELECT count(DISTINCT target_id) FROM resources WHERE credential_id = path.credential_id) reached
           ) / $4::float8)) END
       WHERE id = $1`,
      [targetId, againAt, this.intervalSeconds, READS_PER_SECOND, unmanagedDigest, startedAgoMs],
    );
  }

  /** Schedules a comparison, no later than this. @param requested a caller waits for the outcome */
  async schedule(tx: Tx, targetId: string, inSeconds: number, requested: boolean): Promise<void> {
    await tx.query(
      `UPDATE targets SET reconcile_due_at = least(reconcile_due_at, now() + make_interval(secs => $2)),
         reconcile_requested = reconcile_requested OR $3 WHERE id = $1`,
      [targetId, inSeconds, requested],
    );
  }

  /**
   * Postpones the next comparison of an unreadable target. With rules of ours, until the last comparison is twice as long ago:
   * the waits double.
   */
  async postpone(tx: Tx, targetId: string): Promise<void> {
    await tx.query(
      `UPDATE targets SET reconcile_due_at = greatest(reconcile_due_at, now() + least(make_interval(secs => $2),
         CASE WHEN EXISTS (SELECT FROM rules WHERE target_id = $1 AND state <> 'absent')
           THEN now() - compared_at END))
       WHERE id = $1 AND NOT reconcile_requested`,
      [targetId, Math.max(UNREACHABLE_INTERVAL_SECONDS, this.intervalSeconds)],
    );
  }

  /** Every recorded rule of the target, and the digest of its unmanaged rules at the last comparison. */
  async readKnown(tx: Tx, lease: Lease): Promise<KnownRules> {
    const [known] = await tx.query<KnownRules[]>(
      `SELECT t.unmanaged_digest AS "unmanagedDigest", ARRAY(
         SELECT jsonb_build_object('ruleId', r.id, 'key', r.key, 'state', r.state, 'isUnmanaged', r.is_unmanaged,
           'isSuspended', r.is_suspended, 'isMissing', r.is_missing, 'providerRuleId', r.provider_rule_id,
           'targetMissing', r.target_missing_since IS NOT NULL, 'wasObserved', r.present_since IS NOT NULL,
           'desired', EXISTS (
             SELECT FROM rule_holders holder JOIN resource_ips ip ON ip.id = holder.resource_ip_id
             WHERE holder.rule_id = r.id AND holder.released_at IS NULL AND ip.status IN (${HOLDING})))
         FROM rules r WHERE r.target_id = t.id) AS rules
       FROM targets t WHERE t.id = $1`,
      [lease.targetId],
    );
    return known!;
  }

  /** Which ids in marks on a target this database has not issued. */
  async findUnissued(tx: Tx, targetId: string, ruleIds: readonly string[]): Promise<UnissuedIds> {
    const [found] = await tx.query<UnissuedIds[]>(
      `SELECT deployment_id AS "deploymentId",
         ARRAY(SELECT id FROM unnest($2::text[]) AS marks (id) WHERE NOT is_issued_rule_id(id)) AS ids,
         coalesce(t.unissued_removed_at > now() - make_interval(mins => ${UNISSUED_INTERVAL_MINUTES}), false) AS "hasRemoved"
       FROM targets t CROSS JOIN deployment WHERE t.id = $1`,
      [targetId, ruleIds],
    );
    return found!;
  }

  /** A rule with such an id is due for removal. */
  async noteUnissuedRemoval(tx: Tx, targetId: string): Promise<void> {
    await tx.query('UPDATE targets SET unissued_removed_at = now() WHERE id = $1', [targetId]);
  }

  /** The access paths of the resources that point at the target; without any, those its rules were written through. */
  accessPaths(tx: Tx, lease: Lease): Promise<AccessPath[]> {
    return tx.query(
      `WITH named AS (
         SELECT r.credential_id, r.region, jsonb_agg(jsonb_build_object(${COMPARED_RESOURCE})) AS resources,
           bool_or(r.write_verified) AS "isProven"
         FROM resources r WHERE r.target_id = $1 AND r.deleted_at IS NULL GROUP BY r.credential_id, r.region
       ), written AS (
         SELECT DISTINCT credential_id, region, '[]'::jsonb AS resources, false AS "isProven" FROM rules
         WHERE target_id = $1 AND state <> 'absent' AND credential_id IS NOT NULL AND NOT EXISTS (SELECT FROM named)
       )
       SELECT jsonb_build_object('credentialId', credential_id, 'region', region, 'organizationId',
         (SELECT organization_id FROM credentials c WHERE c.id = credential_id)) AS access, "isProven", resources
       FROM (SELECT * FROM named UNION ALL SELECT * FROM written) paths`,
      [lease.targetId],
    );
  }

  /** Their target no longer exists: the resources stay inactive until they are verified again. */
  async deactivate(tx: Tx, resources: readonly Pick<NamingResource, 'id'>[]): Promise<void> {
    await tx.query(
      'UPDATE resources SET is_active = false, write_verified = false WHERE id = ANY ($1::uuid[])',
      [resources.map(({ id }) => id)],
    );
  }

  /** Inserts health events, of resources that are not deleted. */
  async report(tx: Tx, reports: readonly HealthReport[]): Promise<void> {
    const events = reports.flatMap(({ resources, ...outcome }) =>
      resources.map(({ id, organizationId, name }): ReportedEvent => ({
        id,
        organizationId,
        name,
        ...outcome,
      })),
    );
    if (events.length === 0) return;
    await tx.query(
      `INSERT INTO resource_health_events (organization_id, resource_id, event_type, message)
       SELECT n."organizationId", n.id, n."eventType", n.message
       FROM jsonb_to_recordset($1::jsonb) AS n(id uuid, "organizationId" uuid, "eventType" text, message text)
       JOIN resources r ON r.id = n.id AND r.deleted_at IS NULL`,
      [JSON.stringify(events)],
    );
    await this.record(
      tx,
      events.filter(({ eventType, needsPeople }) => eventType === 'RECONCILE_OK' || needsPeople),
    );
  }

  /** Records that a resource needs attention, once until it is in order again, and that then. The caller has the target's lease. */
  private async record(tx: Tx, events: readonly ReportedEvent[]): Promise<void> {
    for (const [organization, own] of grouped(events, ({ organizationId }) => organizationId)) {
      const failing = await rows<{ id: string }>(
        tx,
        `SELECT r.id FROM unnest($2::uuid[]) AS r (id) CROSS JOIN LATERAL (
           SELECT a.result FROM audit_records a
           WHERE a.organization_id = $1 AND a.resource_id = r.id AND a.event_type = 'RESOURCE_RECONCILED'
             AND a.actor_type = 'SYSTEM'
           ORDER BY a.timestamp DESC, a.sequence DESC LIMIT 1) last
         WHERE last.result = 'FAILURE'`,
        [organization, own.map(({ id }) => id)],
      );
      const wasFailing = new Set(failing.map(({ id }) => id));
      const news = own.filter(({ id, needsPeople }) => wasFailing.has(id) !== needsPeople);
      if (news.length > 0) await this.audit.write(tx, organization, ...news.map(reconciled));
    }
  }
}

type ReportedEvent = Omit<HealthReport, 'resources'> & HealthReport['resources'][number];

const reconciled = ({ id, name, message, needsPeople }: ReportedEvent): AuditEntry => ({
  ...SYSTEM_ACTOR,
  eventType: 'RESOURCE_RECONCILED',
  resourceType: 'RESOURCE',
  resourceId: id,
  resourceName: name,
  result: needsPeople ? 'FAILURE' : 'SUCCESS',
  errorMessage: needsPeople ? message : null,
});
