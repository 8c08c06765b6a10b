import { definedFields, type OrganizationId } from '#rules';
import {
  DATA_KEY,
  type DataKeyRow,
  IdentityProviderEntity,
  type ListDefinition,
  type TenantStore,
  type Tx,
  choiceFilter,
  countOf,
  first,
  newestDataKey,
  rows,
  touches,
  unlessTaken,
} from '#entities';
import { ListedStore } from '../listed-store';

/** What a group of the issuer makes of its members: members of a role, or administrators. */
export interface GroupMapping {
  readonly group: string;
  /** null: administrators */
  readonly roleId: string | null;
}

export interface IdentityProviderRow extends Readonly<
  Omit<IdentityProviderEntity, 'organizationId' | 'sealedData'>
> {
  readonly groupMappings: readonly GroupMapping[];
}

/** With its sealed client secret, and what opens it. */
export interface SealedIdentityProvider extends IdentityProviderRow {
  readonly organizationId: OrganizationId;
  readonly sealedData: Readonly<Record<string, string>>;
  readonly dataKey: DataKeyRow;
}

type Settings = Pick<
  IdentityProviderRow,
  | 'name'
  | 'issuer'
  | 'clientId'
  | 'groupsClaim'
  | 'groupPattern'
  | 'emailDomains'
  | 'createUsers'
  | 'trustsSecondFactor'
  | 'isEnabled'
>;

export type NewIdentityProvider = Settings & {
  readonly id: string;
  readonly sealedData: Readonly<Record<string, string>>;
  readonly createdByEmail: string;
};

/** undefined: unchanged */
export type IdentityProviderChanges = {
  readonly [Name in keyof Settings | 'sealedData']?: (Settings & NewIdentityProvider)[Name] | undefined;
};

const COLUMNS = `p.id, p.name, p.issuer, p.client_id AS "clientId", p.groups_claim AS "groupsClaim", p.group_pattern AS "groupPattern",
    p.email_domains AS "emailDomains", p.create_users AS "createUsers", p.trusts_second_factor AS "trustsSecondFactor",
    p.is_enabled AS "isEnabled", coalesce(p.last_error, (SELECT i.claims_error FROM user_identities i WHERE i.provider_id = p.id
      AND i.claims_error IS NOT NULL AND EXISTS (SELECT FROM sso_sign_ins s WHERE s.identity_id = i.id)
      ORDER BY i.last_seen_at DESC LIMIT 1)) AS "lastError", p.created_by_email AS "createdByEmail",
    p.created_at AS "createdAt", p.updated_at AS "updatedAt",
    coalesce((SELECT jsonb_agg(jsonb_build_object('group', g.group_name, 'roleId', g.role_id)
      ORDER BY g.group_name, g.role_id) FROM group_mappings g WHERE g.provider_id = p.id), '[]') AS "groupMappings"`;

export const IDENTITY_PROVIDER_LIST: ListDefinition = {
  list: `SELECT ${COLUMNS} FROM identity_providers p WHERE p.organization_id = $1`,
  id: 'p.id',
  search: ['p.name', 'p.issuer'],
  sort: { name: 'p.name', createdAt: 'p.created_at' },
  order: 'name',
  filters: {
    state: choiceFilter(
      `CASE WHEN NOT p.is_enabled THEN 'DISABLED' WHEN p.last_error IS NULL THEN 'ENABLED' ELSE 'FAILING' END`,
      ['ENABLED', 'DISABLED', 'FAILING'],
    ),
  },
};

const NAME_KEY = 'identity_providers_organization_id_name_key';

/** The issuers that an organization's people sign in with. */
export class IdentityProviderStore
  extends ListedStore<IdentityProviderRow>
  implements TenantStore<IdentityProviderStore>
{
  protected readonly definition = IDENTITY_PROVIDER_LIST;

  /** For a request to the issuer. */
  findSealed(tx: Tx, organization: OrganizationId, id: string): Promise<SealedIdentityProvider | null> {
    return first(
      tx,
      `SELECT ${COLUMNS}, p.organization_id AS "organizationId", p.sealed_data AS "sealedData", ${DATA_KEY}
       FROM identity_providers p JOIN ${newestDataKey('p.organization_id')} ON true
       WHERE p.organization_id = $1 AND p.id = $2`,
      [organization, id],
    );
  }

  /** Call `UserStore.lock` first: it serializes creations. */
  count(tx: Tx, organization: OrganizationId): Promise<number> {
    return countOf(tx, 'identity_providers WHERE organization_id = $1', [organization]);
  }

  /** Whether a user can sign in with one. Call `UserStore.lock` first. @param besides this one; null: any */
  hasEnabled(tx: Tx, organization: OrganizationId, besides: string | null = null): Promise<boolean> {
    return touches(
      tx,
      `SELECT FROM identity_providers WHERE organization_id = $1 AND is_enabled AND id IS DISTINCT FROM $2::uuid`,
      [organization, besides],
    );
  }

  /** @returns false when the name is taken: a constraint decides, and the transaction is aborted */
  create(tx: Tx, organization: OrganizationId, provider: NewIdentityProvider): Promise<boolean> {
    const written = { ...provider, organizationId: organization };
    return unlessTaken(NAME_KEY, () => tx.insert(IdentityProviderEntity, written));
  }

  /** @returns as `create` */
  update(
    tx: Tx,
    organization: OrganizationId,
    id: string,
    changes: IdentityProviderChanges,
  ): Promise<boolean> {
    const written = { ...definedFields(changes), lastError: null };
    return unlessTaken(NAME_KEY, () =>
      tx.update(IdentityProviderEntity, { organizationId: organization, id }, written),
    );
  }

  /** Call `UserStore.missingRoles` first. Each mapping once. */
  async replaceMappings(
    tx: Tx,
    organization: OrganizationId,
    id: string,
    mappings: readonly GroupMapping[],
  ): Promise<void> {
    await tx.query('DELETE FROM group_mappings WHERE organization_id = $1 AND provider_id = $2', [
      organization,
      id,
    ]);
    await tx.query(
      `INSERT INTO group_mappings (organization_id, provider_id, group_name, role_id)
       SELECT $1, $2, m.* FROM unnest($3::text[], $4::uuid[]) m`,
      [organization, id, mappings.map(({ group }) => group), mappings.map(({ roleId }) => roleId)],
    );
  }

  /** Why the issuer could not be used; null: it could. */
  async recordError(tx: Tx, organization: OrganizationId, id: string, error: string | null): Promise<void> {
    await tx.query(
      `UPDATE identity_providers SET last_error = $3
       WHERE organization_id = $1 AND id = $2 AND last_error IS DISTINCT FROM $3`,
      [organization, id, error],
    );
  }

  /** Its identities go with it: call `SsoSignInStore.endOfProvider` first. */
  delete(tx: Tx, organization: OrganizationId, id: string): Promise<boolean> {
    return touches(tx, 'DELETE FROM identity_providers WHERE organization_id = $1 AND id = $2 RETURNING id', [
      organization,
      id,
    ]);
  }
}

/** An enabled identity provider of an organization that is neither suspended nor deleted. */
export interface OfferedProvider {
  readonly id: string;
  readonly name: string;
  readonly organizationId: OrganizationId;
}

/** Before authentication: an organization is found by its slug. */
export class OfferedProviderStore {
  /** Those that people of an organization may sign in with, by name. An unknown slug has none. */
  ofSlug(tx: Tx, slug: string): Promise<OfferedProvider[]> {
    return rows(
      tx,
      `SELECT p.id, p.name, p.organization_id AS "organizationId"
       FROM organizations o JOIN identity_providers p ON p.organization_id = o.id
       WHERE o.slug = $1 AND o.deleted_at IS NULL AND o.suspended_at IS NULL AND p.is_enabled ORDER BY p.name`,
      [slug],
    );
  }
}
