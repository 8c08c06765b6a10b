import { TIER_LIMITS, type OrganizationId, type Provider, type Tier, type TrafficConfig } from '#rules';
import type { Tx } from './database';
import type { HealthEventType } from './resource.entity';
import type { TenantStore } from './tenant-store';

export interface ResourceRow {
  readonly id: string;
  readonly name: string;
  readonly credentialId: string;
  readonly credentialName: string;
  readonly provider: Provider;
  readonly resourceType: string;
  readonly resourceIdentifier: string;
  readonly region: string | null;
  readonly config: TrafficConfig & Readonly<Record<string, unknown>>;
  readonly isActive: boolean;
  readonly lastVerifiedAt: Date | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export interface NewResource {
  readonly name: string;
  readonly credentialId: string;
  readonly provider: Provider;
  readonly resourceType: string;
  readonly resourceIdentifier: string;
  readonly region: string | null;
  readonly config: TrafficConfig & Readonly<Record<string, unknown>>;
  /** the cloud object's one name, see `ResourceTypeFacts.targetKey` */
  readonly targetKey: string;
}

const SELECT = `SELECT r.id, r.name, r.credential_id AS "credentialId", c.name AS "credentialName", r.provider,
    r.resource_type AS "resourceType", r.resource_identifier AS "resourceIdentifier", r.region, r.config,
    r.is_active AS "isActive", r.last_verified_at AS "lastVerifiedAt", r.created_at AS "createdAt",
    r.updated_at AS "updatedAt"
  FROM resources r JOIN credentials c ON c.id = r.credential_id`;

export class ResourceStore implements TenantStore<ResourceStore> {
  list(tx: Tx, organization: OrganizationId): Promise<ResourceRow[]> {
    return tx.query(`${SELECT} WHERE r.organization_id = $1 ORDER BY r.name, r.id`, [organization]);
  }

  async find(tx: Tx, organization: OrganizationId, id: string): Promise<ResourceRow | null> {
    const [row] = await tx.query<ResourceRow[]>(`${SELECT} WHERE r.organization_id = $1 AND r.id = $2`, [
      organization,
      id,
    ]);
    return row ?? null;
  }

  /**
   * Locks the organization's row while it counts, so that two creations cannot both take the last place.
   * @returns false when the tier's maximum is reached
   */
  async hasRoom(tx: Tx, organization: OrganizationId): Promise<boolean> {
    const [owner] = await tx.query<{ tier: Tier }[]>(
      'SELECT subscription_tier AS tier FROM organizations WHERE id = $1 FOR NO KEY UPDATE',
      [organization],
    );
    const limit = TIER_LIMITS[owner!.tier].resources;
    if (limit === null) return true;
    const [used] = await tx.query<{ count: number }[]>(
      'SELECT count(*)::int AS count FROM resources WHERE organization_id = $1',
      [organization],
    );
    return used!.count < limit;
  }

  /** Creates the resource, and the cloud object it names unless another resource names it already. */
  async create(tx: Tx, organization: OrganizationId, resource: NewResource): Promise<ResourceRow> {
    const [target] = await tx.query<{ id: string }[]>(
      `INSERT INTO targets (provider, key, resource_type, identifier) VALUES ($1, $2, $3, $4)
       ON CONFLICT (key) DO UPDATE SET key = excluded.key RETURNING id`,
      [resource.provider, resource.targetKey, resource.resourceType, resource.resourceIdentifier],
    );
    const [created] = await tx.query<{ id: string }[]>(
      `INSERT INTO resources (organization_id, name, credential_id, provider, resource_type, resource_identifier,
         region, config, target_id)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) RETURNING id`,
      [
        organization,
        resource.name,
        resource.credentialId,
        resource.provider,
        resource.resourceType,
        resource.resourceIdentifier,
        resource.region,
        JSON.stringify(resource.config),
        target!.id,
      ],
    );
    return (await this.find(tx, organization, created!.id))!;
  }

  /** Notes what a verification found: the resource may be used, or may not. */
  async recordVerification(
    tx: Tx,
    organization: OrganizationId,
    id: string,
    failure: string | null,
  ): Promise<void> {
    const found: HealthEventType = failure === null ? 'VERIFY_OK' : 'VERIFY_FAILED';
    await tx.query(
      `UPDATE resources SET is_active = $3, updated_at = now(),
         last_verified_at = CASE WHEN $3 THEN now() ELSE last_verified_at END
       WHERE organization_id = $1 AND id = $2`,
      [organization, id, failure === null],
    );
    await tx.query(
      `INSERT INTO resource_health_events (organization_id, resource_id, event_type, message) VALUES ($1, $2, $3, $4)`,
      [organization, id, found, failure],
    );
  }
}
