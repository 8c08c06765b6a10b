import { AGENT_AWAY_SECONDS, type OrganizationId, type Provider, type ResourceConfig } from '#rules';
import { type AuditEntry, AuditTrail, type HealthEventType, SYSTEM_ACTOR, type Tx, rows } from '#entities';
import { credentialChecked } from './credential.store';

/** A credential leased to this worker for a check. */
export interface DueCredential {
  /** of the credential, or of its row for an account */
  readonly id: string;
  /** of the credential itself */
  readonly credentialId: string;
  /** null: it is checked as it is */
  readonly account: string | null;
  readonly organizationId: OrganizationId;
  readonly name: string;
  readonly provider: Provider;
  /** null: these secrets have not been checked */
  readonly wasValid: boolean | null;
  /** consecutive checks that the provider did not answer */
  readonly attempts: number;
  /** fencing token: a result is written only while the row still has it; a rotation or a requested check replaces it */
  readonly lease: string;
}

/** A resource leased to this worker for a verification. */
export interface DueResource {
  readonly id: string;
  readonly organizationId: OrganizationId;
  readonly name: string;
  readonly provider: Provider;
  readonly resourceType: string;
  readonly resourceIdentifier: string;
  /** passed to the driver */
  readonly targetIdentifier: string;
  readonly region: string | null;
  readonly credentialId: string;
  readonly writeVerified: boolean;
  readonly config: ResourceConfig;
  /** ms since the last successful verification; null: there was none */
  readonly verifiedAgoMs: number | null;
  readonly lease: string;
}

/** Background checks of credentials and resources. Serves all organizations: each row names its own. */
export class VerificationStore {
  private readonly audit = new AuditTrail();

  /** Leases credentials whose check is due, the longest overdue first; no two workers get the same. */
  takeCredentials(
    tx: Tx,
    providers: readonly Provider[],
    limit: number,
    leaseSeconds: number,
  ): Promise<DueCredential[]> {
    return rows(
      tx,
      `WITH due AS (
         SELECT id FROM credentials WHERE check_due_at <= now() AND deleted_at IS NULL AND provider = ANY ($1)
         ORDER BY check_due_at LIMIT $2 FOR NO KEY UPDATE SKIP LOCKED
       )
       UPDATE credentials c SET check_due_at = now() + make_interval(secs => $3) FROM due WHERE c.id = due.id
       RETURNING c.id, coalesce(c.parent_id, c.id) AS "credentialId", c.account,
         c.organization_id AS "organizationId", c.name, c.provider, c.is_valid AS "wasValid",
         c.check_attempts AS attempts, c.check_due_at::text AS lease`,
      [providers, limit, leaseSeconds],
    );
  }

  /**
   * Writes the provider's answer, with an audit record when the outcome changed.
   * @param failure why it was refused; null when it is valid
   */
  async settleCredential(tx: Tx, due: DueCredential, failure: string | null): Promise<void> {
    const settled = await rows(
      tx,
      `UPDATE credentials SET ${credentialChecked('$3')}
       WHERE id = $1 AND check_due_at = $2::timestamptz RETURNING 1`,
      [due.id, due.lease, failure],
    );
    if (settled.length === 0 || due.wasValid === (failure === null)) return;
    await this.audit.write(tx, due.organizationId, {
      ...bySystem({ id: due.credentialId, name: due.name }, failure),
      eventType: 'CREDENTIAL_VERIFIED',
      resourceType: 'CREDENTIAL',
      ...(due.account !== null && { details: { account: due.account } }),
    });
  }

  /** Schedules a retry after an unanswered check; the known validity is kept. */
  async postponeCredential(tx: Tx, due: DueCredential, inMs: number): Promise<void> {
    await tx.query(
      `UPDATE credentials SET check_attempts = check_attempts + 1, check_due_at = now() + make_interval(secs => $3)
       WHERE id = $1 AND check_due_at = $2::timestamptz`,
      [due.id, due.lease, inMs / 1000],
    );
  }

  /** Leases resources that were verified once and are due again. */
  takeResources(
    tx: Tx,
    providers: readonly Provider[],
    limit: number,
    { everyMinutes, leaseSeconds }: { everyMinutes: number; leaseSeconds: number },
  ): Promise<DueResource[]> {
    return rows(
      tx,
      `WITH due AS (
         SELECT id FROM resources
         WHERE deleted_at IS NULL AND provider = ANY ($1) AND (verify_due_at <= now()
           OR (verify_due_at IS NULL AND last_verified_at <= now() - make_interval(mins => $4)))
         ORDER BY verify_due_at LIMIT $2 FOR NO KEY UPDATE SKIP LOCKED
       )
       UPDATE resources r SET verify_due_at = now() + make_interval(secs => $3) FROM due WHERE r.id = due.id
       RETURNING r.id, r.organization_id AS "organizationId", r.name, r.provider, r.resource_type AS "resourceType",
         r.resource_identifier AS "resourceIdentifier",
         (SELECT t.identifier FROM targets t WHERE t.id = r.target_id) AS "targetIdentifier", r.region, r.credential_id AS "credentialId",
         r.write_verified AS "writeVerified", r.config, extract(epoch FROM now() - r.last_verified_at)::float8 * 1000 AS "verifiedAgoMs",
         r.verify_due_at::text AS lease`,
      [providers, limit, leaseSeconds, everyMinutes],
    );
  }

  /**
   * Writes the outcome of a verification. When it differs from the last one, it adds a health event and an audit record,
   * and deactivates the resource, or reactivates it if a check had deactivated it.
   * @param failure why it cannot be used, a non-retryable failure; null when it can
   */
  async settleResource(
    tx: Tx,
    due: DueResource,
    failure: string | null,
    nextInMinutes: number,
  ): Promise<void> {
    const last = await this.lastOutcome(tx, due);
    if (last === 'outdated') return;
    const found: HealthEventType = failure === null ? 'VERIFY_OK' : 'VERIFY_FAILED';
    const changed = last !== found;
    await tx.query(
      `UPDATE resources SET verify_due_at = now() + make_interval(mins => $2),
         last_verified_at = CASE WHEN $3 THEN now() ELSE last_verified_at END, verification_error = $4,
         write_verified = $3,
         target_verified_at = CASE WHEN $3 THEN coalesce(target_verified_at, now()) ELSE target_verified_at END,
         abandoned_at = CASE WHEN NOT $3 THEN abandoned_at END,
         ${failure === null ? REACTIVATE : changed ? DEACTIVATE : 'is_active = is_active'}
       WHERE id = $1`,
      [due.id, nextInMinutes, failure === null, failure],
    );
    if (!changed) return;
    await tx.query(
      `INSERT INTO resource_health_events (organization_id, resource_id, event_type, message) VALUES ($1, $2, $3, $4)`,
      [due.organizationId, due.id, found, failure],
    );
    await this.audit.write(tx, due.organizationId, {
      ...bySystem(due, failure),
      eventType: 'RESOURCE_VERIFIED',
      resourceType: 'RESOURCE',
    });
  }

  /**
   * Writes the verifications of hosts' resources whose agent is connected and whose last verification succeeded, as
   * `settleResource` does, in one statement for all of them.
   * @returns the ids of these resources
   */
  async settleConnected(tx: Tx, due: readonly DueResource[], nextInMinutes: number): Promise<string[]> {
    const settled = await rows<{ id: string }>(
      tx,
      `WITH connected AS MATERIALIZED (
         SELECT r.id FROM jsonb_to_recordset($1::jsonb)
           AS due(id uuid, "resourceIdentifier" text, region text, "credentialId" uuid, lease text)
         JOIN resources r ON r.id = due.id
         JOIN agents a ON a.organization_id = r.organization_id AND a.name = lower(r.resource_identifier)
         WHERE r.provider = 'AGENT' AND r.verify_due_at = due.lease::timestamptz AND r.deleted_at IS NULL
           AND r.resource_identifier = due."resourceIdentifier" AND r.credential_id = due."credentialId"
           AND r.region IS NOT DISTINCT FROM due.region AND a.seen_at > now() - make_interval(secs => $3)
           AND 'VERIFY_OK' = (
             SELECT e.event_type FROM resource_health_events e
             WHERE e.organization_id = r.organization_id AND e.resource_id = r.id
               AND e.event_type IN ('VERIFY_OK', 'VERIFY_FAILED') ORDER BY e.created_at DESC LIMIT 1)
         FOR NO KEY UPDATE OF r SKIP LOCKED
       )
       UPDATE resources r SET verify_due_at = now() + make_interval(mins => $2), last_verified_at = now(),
         write_verified = true, target_verified_at = coalesce(r.target_verified_at, now()), abandoned_at = NULL,
         is_active = r.is_active OR r.suspended_by_check, suspended_by_check = false
       FROM connected WHERE r.id = connected.id RETURNING r.id`,
      [JSON.stringify(due), nextInMinutes, AGENT_AWAY_SECONDS],
    );
    return settled.map(({ id }) => id);
  }

  /** Schedules a retry after a retryable failure; nothing else changes. */
  async postponeResource(tx: Tx, due: DueResource, inMs: number): Promise<void> {
    await tx.query(
      `UPDATE resources SET verify_due_at = now() + make_interval(secs => $3)
       WHERE id = $1 AND verify_due_at = $2::timestamptz`,
      [due.id, due.lease, inMs / 1000],
    );
  }

  /** Locks the resource. `outdated`: it is deleted, its target or access changed, or the lease was lost. */
  private async lastOutcome(tx: Tx, due: DueResource): Promise<HealthEventType | null | 'outdated'> {
    const locked = await tx.query<unknown[]>(
      `SELECT 1 FROM resources WHERE id = $1 AND verify_due_at = $2::timestamptz AND deleted_at IS NULL
         AND resource_identifier = $3 AND credential_id = $4 AND region IS NOT DISTINCT FROM $5
       FOR NO KEY UPDATE`,
      [due.id, due.lease, due.resourceIdentifier, due.credentialId, due.region],
    );
    if (locked.length === 0) return 'outdated';
    const [last] = await tx.query<{ eventType: HealthEventType }[]>(
      `SELECT event_type AS "eventType" FROM resource_health_events
       WHERE organization_id = $1 AND resource_id = $2 AND event_type IN ('VERIFY_OK', 'VERIFY_FAILED')
       ORDER BY created_at DESC LIMIT 1`,
      [due.organizationId, due.id],
    );
    return last?.eventType ?? null;
  }
}

const DEACTIVATE = `suspended_by_check = is_active, is_active = false,
         updated_at = CASE WHEN is_active THEN now() ELSE updated_at END`;
/** A resource that an admin deactivated stays inactive, until its verification is requested. */
const REACTIVATE = `is_active = is_active OR suspended_by_check, suspended_by_check = false,
         updated_at = CASE WHEN suspended_by_check THEN now() ELSE updated_at END`;

const bySystem = (
  { id, name }: Pick<DueResource, 'id' | 'name'>,
  failure: string | null,
): Omit<AuditEntry, 'eventType' | 'resourceType'> => ({
  ...SYSTEM_ACTOR,
  resourceId: id,
  resourceName: name,
  result: failure === null ? 'SUCCESS' : 'FAILURE',
  errorMessage: failure,
});
