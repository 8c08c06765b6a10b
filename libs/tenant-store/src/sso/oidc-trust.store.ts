import type { OrganizationId } from '#rules';
import {
  type OidcTrustEntity,
  type ListDefinition,
  type TenantStore,
  type Tx,
  choiceFilter,
  countOf,
  touches,
  unlessTaken,
} from '#entities';
import { ListedStore } from '../listed-store';

/** Claim: the allowed values. */
export type OidcConditions = Readonly<Record<string, readonly string[]>>;

export interface OidcTrustRow extends Readonly<Omit<OidcTrustEntity, 'organizationId' | 'conditions'>> {
  readonly conditions: OidcConditions;
  readonly serviceUserEmail: string;
  readonly isServiceUserActive: boolean;
}

export type NewOidcTrust = Pick<
  OidcTrustRow,
  'name' | 'preset' | 'issuer' | 'serviceUserId' | 'conditions' | 'scopes' | 'createdByEmail'
>;

/** undefined: unchanged */
export type OidcTrustChanges = {
  readonly [Name in 'name' | 'conditions' | 'scopes' | 'isEnabled']?: OidcTrustRow[Name] | undefined;
};

const SELECT = `SELECT t.id, t.name, t.preset, t.issuer, t.service_user_id AS "serviceUserId", u.email AS "serviceUserEmail",
    u.is_active AS "isServiceUserActive", t.scopes, t.conditions, t.is_enabled AS "isEnabled", t.revision,
    t.last_used_at AS "lastUsedAt", t.created_by_email AS "createdByEmail", t.created_at AS "createdAt",
    t.updated_at AS "updatedAt"
  FROM oidc_trusts t JOIN users u ON u.organization_id = t.organization_id AND u.id = t.service_user_id
  WHERE t.organization_id = $1`;

export const OIDC_TRUST_LIST: ListDefinition = {
  list: SELECT,
  id: 't.id',
  search: ['t.name', 't.issuer'],
  sort: { name: 't.name', createdAt: 't.created_at' },
  order: 'name',
  filters: {
    state: choiceFilter(`CASE WHEN t.is_enabled THEN 'ENABLED' ELSE 'DISABLED' END`, ['ENABLED', 'DISABLED']),
  },
};

const NAME_KEY = 'oidc_trusts_organization_id_name_key';

export class OidcTrustStore extends ListedStore<OidcTrustRow> implements TenantStore<OidcTrustStore> {
  protected readonly definition = OIDC_TRUST_LIST;

  /** Those with an issuer, disabled ones too. @param id only this one; null: all */
  ofIssuer(tx: Tx, organization: OrganizationId, issuer: string, id: string | null): Promise<OidcTrustRow[]> {
    return tx.query<OidcTrustRow[]>(
      `${SELECT} AND t.issuer = $2 AND ($3::uuid IS NULL OR t.id = $3) ORDER BY t.name`,
      [organization, issuer, id],
    );
  }

  /** Call `UserStore.lock` first: it serializes creations. */
  count(tx: Tx, organization: OrganizationId): Promise<number> {
    return countOf(tx, 'oidc_trusts WHERE organization_id = $1', [organization]);
  }

  /** @returns its id, null when the name is taken */
  async create(tx: Tx, organization: OrganizationId, trust: NewOidcTrust): Promise<string | null> {
    const { name, preset, issuer, serviceUserId, scopes, conditions, createdByEmail } = trust;
    const [created] = await tx.query<{ id: string }[]>(
      `INSERT INTO oidc_trusts (organization_id, name, preset, issuer, service_user_id, scopes, conditions, created_by_email)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
       ON CONFLICT ON CONSTRAINT ${NAME_KEY} DO NOTHING RETURNING id`,
      [organization, name, preset, issuer, serviceUserId, scopes, JSON.stringify(conditions), createdByEmail],
    );
    return created?.id ?? null;
  }

  /**
   * A change of what the trust allows ends its access tokens.
   * @returns false when another trust has the name: a constraint decides, and the transaction is aborted
   */
  update(
    tx: Tx,
    organization: OrganizationId,
    id: string,
    { name, conditions, scopes, isEnabled }: OidcTrustChanges,
  ): Promise<boolean> {
    const given = [
      name ?? null,
      conditions ? JSON.stringify(conditions) : null,
      scopes ?? null,
      isEnabled ?? null,
    ];
    return unlessTaken(NAME_KEY, () =>
      tx.query(
        `UPDATE oidc_trusts SET name = coalesce($3, name), conditions = coalesce($4::jsonb, conditions),
           scopes = coalesce($5::text[], scopes), is_enabled = coalesce($6, is_enabled), updated_at = now(),
           revision = revision + (coalesce($4::jsonb, conditions) <> conditions
             OR coalesce($5::text[], scopes) <> scopes OR coalesce($6, is_enabled) <> is_enabled)::int
         WHERE organization_id = $1 AND id = $2`,
        [organization, id, ...given],
      ),
    );
  }

  delete(tx: Tx, organization: OrganizationId, id: string): Promise<boolean> {
    return touches(tx, 'DELETE FROM oidc_trusts WHERE organization_id = $1 AND id = $2 RETURNING id', [
      organization,
      id,
    ]);
  }

  /** Whether an ID token was exchanged before. */
  async isUsed(tx: Tx, organization: OrganizationId, tokenHash: string): Promise<boolean> {
    const [used] = await tx.query<object[]>(
      'SELECT 1 FROM oidc_used_tokens WHERE organization_id = $1 AND token_hash = $2',
      [organization, tokenHash],
    );
    return used !== undefined;
  }

  /**
   * Marks an ID token as exchanged. The table's key decides between concurrent exchanges.
   * @param expiresAt when it would be refused anyway
   * @returns false when it was exchanged before
   */
  use(tx: Tx, organization: OrganizationId, tokenHash: string, expiresAt: Date): Promise<boolean> {
    return touches(
      tx,
      `INSERT INTO oidc_used_tokens (organization_id, token_hash, expires_at) VALUES ($1, $2, $3)
       ON CONFLICT DO NOTHING RETURNING 1`,
      [organization, tokenHash, expiresAt],
    );
  }

  /** At most once a minute: jobs that start together do not wait for one row. */
  async recordUse(tx: Tx, organization: OrganizationId, id: string): Promise<void> {
    await tx.query(
      `UPDATE oidc_trusts SET last_used_at = now() WHERE organization_id = $1 AND id = $2
         AND (last_used_at IS NULL OR last_used_at < now() - interval '1 minute')`,
      [organization, id],
    );
  }
}

export type ReviewedTrust = Pick<OidcTrustRow, 'id' | 'name' | 'preset' | 'issuer' | 'conditions'> & {
  readonly organizationId: OrganizationId;
};

/** Serves all organizations: the operator learns which trusts let in too much. */
export class AllOidcTrustsStore {
  listEnabled(tx: Tx): Promise<ReviewedTrust[]> {
    return tx.query(
      `SELECT t.organization_id AS "organizationId", t.id, t.name, t.preset, t.issuer, t.conditions FROM oidc_trusts t
       WHERE t.is_enabled ORDER BY t.organization_id, t.name`,
    );
  }
}
