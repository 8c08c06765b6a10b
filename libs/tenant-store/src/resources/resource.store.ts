import {
  MAX_RESOURCES_PER_TARGET,
  TIER_LIMITS,
  type OrganizationId,
  type Provider,
  type Tier,
  type TierOf,
} from '#rules';
import {
  type HealthEventType,
  type SealedCredential,
  type ListQuery,
  type Sliced,
  type TenantStore,
  Trial,
  type Tx,
  ResourceEntity,
  countOf,
  first,
  insertRow,
  listPage,
} from '#entities';
import { GRANT, reaches, resourcesOf } from '../roles/granted-sql';
import { hasSecrets } from './credential-secrets';
import { ASSIGNED_RESOURCES, RESOURCE_LIST, RESOURCES } from './resource-list';
import type { LockedTarget, NewResource, ResourceChange, ResourceRow } from './resource-rows';

/** Of several roles the most lenient counts. */
export interface GrantedRow {
  readonly resourceId: string;
  /** the longest session; null: that of the plan */
  readonly hours: number | null;
  readonly approvalsNeeded: number;
  readonly needsReason: boolean;
  readonly mayBreakGlass: boolean;
}

export class ResourceStore implements TenantStore<ResourceStore> {
  /** @param assignedTo only resources of this user's roles; null: all of them */
  list(
    tx: Tx,
    organization: OrganizationId,
    query: ListQuery,
    assignedTo: string | null,
  ): Promise<Sliced<ResourceRow>> {
    if (assignedTo === null) return listPage(tx, RESOURCE_LIST, organization, query);
    return listPage(tx, ASSIGNED_RESOURCES, organization, query, [assignedTo]);
  }

  /** What the user's roles allow on each of the user's resources, and the least that they ask for. */
  listGranted(tx: Tx, organization: OrganizationId, userId: string): Promise<GrantedRow[]> {
    return tx.query(
      `SELECT granted.id AS "resourceId", ${GRANT}
       FROM role_users held JOIN roles role ON role.id = held.role_id AND role.organization_id = $1
       CROSS JOIN LATERAL ${resourcesOf('role.id')} granted WHERE held.user_id = $2 GROUP BY granted.id`,
      [organization, userId],
    );
  }

  async roleNames(tx: Tx, organization: OrganizationId, id: string): Promise<string[]> {
    const roles = await tx.query<{ name: string }[]>(
      `SELECT r.name FROM roles r WHERE r.organization_id = $1 AND ${reaches('r.id', '$2::uuid')} ORDER BY r.name`,
      [organization, id],
    );
    return roles.map(({ name }) => name);
  }

  find(tx: Tx, organization: OrganizationId, id: string): Promise<ResourceRow | null> {
    return first(tx, `${RESOURCES} AND r.id = $2`, [organization, id]);
  }

  /**
   * As `find`, with a lock until the transaction ends: no session starts on it, and it is neither moved nor deleted.
   */
  async lock(tx: Tx, organization: OrganizationId, id: string): Promise<ResourceRow | null> {
    await tx.query('SELECT 1 FROM resources WHERE organization_id = $1 AND id = $2 FOR UPDATE', [
      organization,
      id,
    ]);
    return this.find(tx, organization, id);
  }

  /** Those of the resources that exist, locked against moving and deletion until the transaction ends. */
  lockTargets(tx: Tx, organization: OrganizationId, ids: readonly string[]): Promise<LockedTarget[]> {
    return tx.query(
      `SELECT id AS "resourceId", name AS "resourceName", revision, provider, resource_type AS "resourceType",
         target_id AS "targetId", config
       FROM resources WHERE organization_id = $1 AND id = ANY ($2::uuid[]) AND deleted_at IS NULL
       ORDER BY id FOR KEY SHARE`,
      [organization, ids],
    );
  }

  /**
   * Locks the organization's row, so that two concurrent creations cannot exceed the limit.
   * @returns false when the tier's maximum is reached
   */
  async hasRoom(tx: Tx, organization: OrganizationId, tierOf: TierOf): Promise<boolean> {
    const [owner] = await tx.query<{ tier: Tier }[]>(
      'SELECT subscription_tier AS tier FROM organizations WHERE id = $1 FOR NO KEY UPDATE',
      [organization],
    );
    const limit = TIER_LIMITS[tierOf(owner!.tier)].resources;
    if (limit === null) return true;
    const used = 'resources WHERE organization_id = $1 AND deleted_at IS NULL';
    return (await countOf(tx, used, [organization])) < limit;
  }

  /** @param resource with the id that `target` returned */
  async create(
    tx: Tx,
    organization: OrganizationId,
    resource: Omit<NewResource, 'object'> & { readonly targetId: string },
  ): Promise<ResourceRow> {
    const written = { ...resource, credentialId: resource.accessId, organizationId: organization };
    return (await this.find(tx, organization, await insertRow(tx, ResourceEntity, written)))!;
  }

  /**
   * Gets or creates the row of a resource's target. One row per target, shared by all organizations. It is locked until
   * the transaction ends, so that `hasRoomOnTarget` counts every resource on it; not by a trial, for which an estimate will do.
   */
  async target(
    tx: Tx,
    organization: OrganizationId,
    named: Pick<NewResource, 'provider' | 'object' | 'resourceType'>,
  ): Promise<string> {
    const known =
      Trial.current &&
      (await first<{ id: string }>(tx, 'SELECT id FROM targets WHERE key = $1', [named.object.key]));
    if (known) return known.id;
    const [target] = await tx.query<{ id: string }[]>(
      `INSERT INTO targets (provider, key, resource_type, identifier, reconcile_due_at, accounted_to)
       VALUES ($1, $2, $3, $4, now() + interval '10 minutes', $5)
       ON CONFLICT (key) DO UPDATE SET key = excluded.key RETURNING id`,
      [named.provider, named.object.key, named.resourceType, named.object.identifier, organization],
    );
    return target!.id;
  }

  /**
   * Whether the organization may have one more resource on a target that `target` has locked. A resource already on it
   * may stay, regardless of the limit.
   * @param id of a resource that is moved; null: a new one
   */
  async hasRoomOnTarget(
    tx: Tx,
    organization: OrganizationId,
    targetId: string,
    id: string | null,
  ): Promise<boolean> {
    const [named] = await tx.query<{ hasRoom: boolean }[]>(
      `SELECT count(*) < $3::int OR coalesce(bool_or(id = $4::uuid), false) AS "hasRoom" FROM resources
       WHERE organization_id = $1 AND target_id = $2 AND deleted_at IS NULL`,
      [organization, targetId, MAX_RESOURCES_PER_TARGET, id],
    );
    return named!.hasRoom;
  }

  /**
   * @param change `moved`: its target, credential or region changed, so it is due for verification; `trafficChanged`: it
   *   names other ports or another protocol, which is not confirmed; `activityGiven`: the request sets `isActive`, so
   *   the next background check does not reactivate it
   */
  async update(
    tx: Tx,
    organization: OrganizationId,
    id: string,
    change: Omit<ResourceChange, 'object'> & {
      readonly targetId: string;
      readonly moved: boolean;
      readonly trafficChanged: boolean;
      readonly activityGiven: boolean;
    },
  ): Promise<void> {
    await tx.query(
      `UPDATE resources SET name = $3, credential_id = $4, resource_identifier = $5, region = $6, config = $7,
         is_active = $8, target_id = $9, endpoint = $13, labels = $14, account = $15, updated_at = now(),
         revision = revision + $10::boolean::int,
         suspended_by_check = suspended_by_check AND NOT $11,
         write_verified = write_verified AND credential_id = $4 AND resource_identifier = $5
           AND region IS NOT DISTINCT FROM $6,
         abandoned_at = CASE WHEN NOT $10 THEN abandoned_at END,
         verification_error = CASE WHEN NOT $10 THEN verification_error END,
         target_verified_at = CASE WHEN target_id = $9 THEN target_verified_at END,
         guard_confirmed_at = CASE WHEN target_id = $9 AND NOT $12 THEN guard_confirmed_at END,
         verify_due_at = CASE WHEN $10 AND last_verified_at IS NOT NULL THEN now() ELSE verify_due_at END
       WHERE organization_id = $1 AND id = $2`,
      [
        organization,
        id,
        change.name,
        change.accessId,
        change.resourceIdentifier,
        change.region,
        JSON.stringify(change.config),
        change.isActive,
        change.targetId,
        change.moved,
        change.activityGiven,
        change.trafficChanged,
        change.endpoint,
        JSON.stringify(change.labels),
        change.account,
      ],
    );
  }

  /** Records that a host may cut established connections to the resource's current traffic. */
  async confirmGuard(tx: Tx, organization: OrganizationId, id: string): Promise<void> {
    await tx.query(
      `UPDATE resources SET guard_confirmed_at = now(), updated_at = now()
       WHERE organization_id = $1 AND id = $2 AND deleted_at IS NULL`,
      [organization, id],
    );
  }

  /** The one of this name and target. Call `hasRoom` first: it serializes creations. */
  findSame(tx: Tx, organization: OrganizationId, name: string, key: string): Promise<ResourceRow | null> {
    return first(tx, `${RESOURCES} AND r.name = $2 AND t.key = $3 LIMIT 1`, [organization, name, key]);
  }

  /**
   * Makes it due for a verification, which activates it if `activates`. @returns its name, null when there is none
   */
  async requestVerification(
    tx: Tx,
    organization: OrganizationId,
    id: string,
    activates: boolean,
  ): Promise<string | null> {
    const requested = await first<{ name: string }>(
      tx,
      `UPDATE resources SET verify_due_at = now(), suspended_by_check = suspended_by_check OR ($3 AND NOT is_active)
       WHERE organization_id = $1 AND id = $2 AND deleted_at IS NULL RETURNING name`,
      [organization, id, activates],
    );
    return requested?.name ?? null;
  }

  /** Requests a reconciliation of the resource's target. @returns null when there is no such resource */
  requestReconcile(
    tx: Tx,
    organization: OrganizationId,
    id: string,
  ): Promise<{ provider: Provider; targetId: string } | null> {
    return first(
      tx,
      `UPDATE targets t SET reconcile_due_at = now(), reconcile_requested = true FROM resources r
       WHERE r.organization_id = $1 AND r.id = $2 AND r.deleted_at IS NULL AND t.id = r.target_id
       RETURNING t.provider, t.id AS "targetId"`,
      [organization, id],
    );
  }

  /**
   * Records the result of a verification and activates or deactivates the resource, unless it was deleted meanwhile or
   * its target, credential or region changed.
   * @param verified the resource as it was verified
   * @param secrets the sealed data it was verified with; null: none. If they were rotated meanwhile, write access stays
   *   as it was recorded.
   * @param failure why it cannot be used; null when it can
   */
  async recordVerification(
    tx: Tx,
    organization: OrganizationId,
    verified: Pick<ResourceRow, 'id' | 'resourceIdentifier' | 'accessId' | 'region'>,
    secrets: SealedCredential['sealedData'] | null,
    failure: { readonly message: string; readonly isRetryable: boolean } | null,
  ): Promise<void> {
    const isCurrent = await hasSecrets(tx, organization, verified.accessId, secrets);
    const found: HealthEventType = failure === null ? 'VERIFY_OK' : 'VERIFY_FAILED';
    const { id, resourceIdentifier, accessId, region } = verified;
    await tx.query(
      `WITH verified AS (
         UPDATE resources SET updated_at = now(), is_active = $3 AND (is_active OR EXISTS (
             SELECT FROM organizations o WHERE o.id = $1 AND o.suspended_at IS NULL)),
           last_verified_at = CASE WHEN $3 THEN now() ELSE last_verified_at END, verification_error = $5,
           target_verified_at = CASE WHEN $3 THEN coalesce(target_verified_at, now()) ELSE target_verified_at END,
           verify_due_at = now() + interval '30 minutes', suspended_by_check = false,
           write_verified = CASE WHEN $9 THEN write_verified ELSE $3 END,
           abandoned_at = CASE WHEN NOT $3 THEN abandoned_at END
         WHERE organization_id = $1 AND id = $2 AND deleted_at IS NULL AND resource_identifier = $6
           AND credential_id = $7 AND region IS NOT DISTINCT FROM $8 RETURNING id
       )
       INSERT INTO resource_health_events (organization_id, resource_id, event_type, message)
       SELECT $1, id, $4, $5 FROM verified`,
      [
        organization,
        id,
        failure === null,
        found,
        failure?.message ?? null,
        resourceIdentifier,
        accessId,
        region,
        !isCurrent || (failure?.isRetryable ?? false),
      ],
    );
  }
}
