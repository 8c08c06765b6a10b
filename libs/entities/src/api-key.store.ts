import type { OrganizationId } from '#rules';
import { returned, type Tx } from './database';
import { sliced, type Slice, type Sliced } from './slice';
import type { TenantStore } from './tenant-store';

export interface ApiKeyRow {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  readonly keyPrefix: string;
  readonly scopes: string[];
  readonly isRevoked: boolean;
  readonly revokedAt: Date | null;
  readonly expiresAt: Date | null;
  readonly lastUsedAt: Date | null;
  readonly lastUsedIp: string | null;
  readonly createdByEmail: string;
  readonly createdAt: Date;
}

const COLUMNS = `k.id, k.name, k.description, k.key_prefix AS "keyPrefix", k.scopes,
  k.revoked_at IS NOT NULL AS "isRevoked", k.revoked_at AS "revokedAt", k.expires_at AS "expiresAt",
  k.last_used_at AS "lastUsedAt", k.last_used_ip AS "lastUsedIp", k.created_by_email AS "createdByEmail",
  k.created_at AS "createdAt"`;

export class ApiKeyStore implements TenantStore<ApiKeyStore> {
  /**
   * The user's row is locked meanwhile: a deactivation comes before the key, or after it and revokes it.
   * @returns null when the user is no active one of the organization's
   */
  async create(
    tx: Tx,
    organization: OrganizationId,
    key: {
      userId: string;
      name: string;
      description: string | null;
      keyPrefix: string;
      keyHash: string;
      scopes: readonly string[];
      expiresAt: Date | null;
      createdByEmail: string;
    },
  ): Promise<ApiKeyRow | null> {
    const [row] = await tx.query<ApiKeyRow[]>(
      `INSERT INTO api_keys AS k (organization_id, user_id, name, description, key_prefix, key_hash, scopes,
         expires_at, created_by_email)
       SELECT organization_id, id, $3, $4, $5, $6, $7, $8, $9 FROM users
       WHERE organization_id = $1 AND id = $2 AND is_active FOR SHARE RETURNING ${COLUMNS}`,
      [
        organization,
        key.userId,
        key.name,
        key.description,
        key.keyPrefix,
        key.keyHash,
        key.scopes,
        key.expiresAt,
        key.createdByEmail,
      ],
    );
    return row ?? null;
  }

  /** Newest first. */
  list(tx: Tx, organization: OrganizationId, slice: Slice): Promise<Sliced<ApiKeyRow>> {
    return sliced(
      tx,
      {
        counted: 'FROM api_keys WHERE organization_id = $1',
        rows: `SELECT ${COLUMNS} FROM api_keys k WHERE k.organization_id = $1 ORDER BY k.created_at DESC, k.id`,
      },
      [organization],
      slice,
    );
  }

  /** @returns the revoked key, null when there is none by that id, or it was revoked before */
  async revoke(tx: Tx, organization: OrganizationId, id: string): Promise<ApiKeyRow | null> {
    const [row] = returned<ApiKeyRow>(
      await tx.query(
        `UPDATE api_keys AS k SET revoked_at = now()
         WHERE k.organization_id = $1 AND k.id = $2 AND k.revoked_at IS NULL RETURNING ${COLUMNS}`,
        [organization, id],
      ),
    );
    return row ?? null;
  }
}
