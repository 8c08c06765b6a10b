import type { OrganizationId } from '#rules';
import {
  ApiKeyEntity,
  type ListDefinition,
  type TenantStore,
  type Tx,
  choiceFilter,
  first,
  idFilter,
  insertRow,
} from '#entities';
import { ListedStore } from '../listed-store';

export interface ApiKeyRow extends Readonly<Omit<ApiKeyEntity, 'organizationId' | 'keyHash' | 'toldEnd'>> {
  readonly userEmail: string;
  readonly isRevoked: boolean;
}

export type NewApiKey = Readonly<
  Omit<
    ApiKeyEntity,
    'id' | 'organizationId' | 'toldEnd' | 'revokedAt' | 'lastUsedAt' | 'lastUsedIp' | 'createdAt'
  >
>;

/** A user of the organization that a key can be created for. */
export interface KeyOwner {
  readonly isOrgAdmin: boolean;
}

const COLUMNS = `k.id, k.user_id AS "userId", (SELECT u.email FROM users u WHERE u.id = k.user_id) AS "userEmail", k.name, k.description, k.key_prefix AS "keyPrefix", k.scopes, k.agents,
  k.revoked_at IS NOT NULL AS "isRevoked", k.revoked_at AS "revokedAt", k.expires_at AS "expiresAt",
  k.last_used_at AS "lastUsedAt", k.last_used_ip AS "lastUsedIp", k.created_by_email AS "createdByEmail",
  k.created_at AS "createdAt"`;

export const API_KEY_LIST: ListDefinition = {
  list: `SELECT ${COLUMNS} FROM api_keys k WHERE k.organization_id = $1`,
  id: 'k.id',
  search: ['k.name', 'k.key_prefix', '(SELECT u.email FROM users u WHERE u.id = k.user_id)'],
  sort: {
    name: 'k.name',
    createdAt: 'k.created_at',
    lastUsedAt: 'k.last_used_at',
    expiresAt: 'k.expires_at',
  },
  order: '-createdAt',
  filters: {
    userId: idFilter('k.user_id = ?'),
    state: choiceFilter(
      `CASE WHEN k.revoked_at IS NOT NULL THEN 'REVOKED' WHEN k.expires_at <= now() THEN 'EXPIRED'
        WHEN k.expires_at <= now() + interval '14 days' THEN 'ENDING' ELSE 'VALID' END`,
      ['VALID', 'ENDING', 'EXPIRED', 'REVOKED'],
    ),
    scope: { kind: 'choices', where: 'k.scopes && ?::text[]' },
  },
};

export class ApiKeyStore extends ListedStore<ApiKeyRow> implements TenantStore<ApiKeyStore> {
  protected readonly definition = API_KEY_LIST;

  /**
   * Locks the user's row until the commit, so that a concurrent deactivation either precedes the key or revokes it.
   * @returns null when the organization has no such active user
   */
  lockOwner(tx: Tx, organization: OrganizationId, userId: string): Promise<KeyOwner | null> {
    return first(
      tx,
      `SELECT is_org_admin AS "isOrgAdmin" FROM users
       WHERE organization_id = $1 AND id = $2 AND is_active FOR SHARE`,
      [organization, userId],
    );
  }

  /** Call `lockOwner` first. */
  async create(tx: Tx, organization: OrganizationId, key: NewApiKey): Promise<ApiKeyRow> {
    const id = await insertRow(tx, ApiKeyEntity, { ...key, organizationId: organization });
    return (await this.find(tx, organization, id))!;
  }

  /** @returns the revoked key; null when there is no such key or it was already revoked */
  revoke(tx: Tx, organization: OrganizationId, id: string): Promise<ApiKeyRow | null> {
    return first(
      tx,
      `UPDATE api_keys AS k SET revoked_at = now()
       WHERE k.organization_id = $1 AND k.id = $2 AND k.revoked_at IS NULL RETURNING ${COLUMNS}`,
      [organization, id],
    );
  }
}
