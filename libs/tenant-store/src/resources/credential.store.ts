import { PROVIDERS, type OrganizationId, type Provider } from '#rules';
import {
  type CredentialEntity,
  type DataKeyRow,
  SELECT_SEALED_CREDENTIAL,
  type SealedCredential,
  type ListDefinition,
  type ListQuery,
  type Sliced,
  type TenantStore,
  type Tx,
  choiceFilter,
  first,
  listPage,
  rows,
} from '#entities';

export interface CredentialRow extends Readonly<
  Omit<CredentialEntity, 'organizationId' | 'sealedData' | 'checkDueAt' | 'checkAttempts' | 'deletedAt'>
> {
  /** the organization's external id, for cloud roles that this service assumes */
  readonly externalId: string;
}

/** What a credential is still used for. */
export interface CredentialUse {
  readonly name: string;
  /** names of the resources that use it */
  readonly resources: readonly string[];
  /** rules written with it have holders of its organization. Those of others take their rules over */
  readonly hasHeldRules: boolean;
  /** rules written with it must be removed, and that failed so far */
  readonly isStuck: boolean;
}

const COLUMNS = `c.id, c.name, c.provider, c.credential_type AS "credentialType", c.hints, c.is_valid AS "isValid",
  c.last_verified_at AS "lastVerifiedAt", c.verification_error AS "verificationError",
  (SELECT o.external_id FROM organizations o WHERE o.id = c.organization_id) AS "externalId",
  c.created_at AS "createdAt", c.updated_at AS "updatedAt"`;

export const CREDENTIAL_LIST: ListDefinition = {
  list: `SELECT ${COLUMNS} FROM credentials c WHERE c.organization_id = $1 AND c.deleted_at IS NULL`,
  id: 'c.id',
  search: ['c.name', `(SELECT string_agg(hint.value, ' ') FROM jsonb_each_text(c.hints) hint)`],
  sort: { name: 'c.name', lastVerifiedAt: 'c.last_verified_at' },
  order: 'name',
  filters: {
    provider: choiceFilter('c.provider', PROVIDERS),
    credentialType: choiceFilter('c.credential_type', []),
    state: choiceFilter(
      `CASE c.is_valid WHEN true THEN 'VALID' WHEN false THEN 'INVALID' ELSE 'UNCHECKED' END`,
      ['VALID', 'INVALID', 'UNCHECKED'],
    ),
  },
};

/**
 * SQL: the SET clause for a check that the provider answered; the next check is due after a day.
 * @param failure parameter with the reason of the refusal; null when the credential is valid
 */
export const credentialChecked = (failure: string): string => `is_valid = (${failure}::text IS NULL),
  verification_error = ${failure}::text, last_verified_at = now(), check_attempts = 0,
  check_due_at = now() + interval '24 hours'`;

export class CredentialStore implements TenantStore<CredentialStore> {
  /** The organization's newest data key; null before its first secret. */
  dataKey(tx: Tx, organization: OrganizationId): Promise<DataKeyRow | null> {
    return first<DataKeyRow>(
      tx,
      `SELECT organization_id AS "organizationId", version, master_key_version AS "masterKeyVersion",
         wrapped_key AS "wrappedKey"
       FROM data_keys WHERE organization_id = $1 ORDER BY version DESC LIMIT 1`,
      [organization],
    );
  }

  /** Inserts an organization's first data key. Of concurrent calls one inserts, and all get the same key. */
  async getOrInsertDataKey(
    tx: Tx,
    organization: OrganizationId,
    key: Omit<DataKeyRow, 'organizationId'>,
  ): Promise<DataKeyRow> {
    await tx.query(
      `INSERT INTO data_keys (organization_id, version, master_key_version, wrapped_key)
       VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`,
      [organization, key.version, key.masterKeyVersion, key.wrappedKey],
    );
    return (await this.dataKey(tx, organization))!;
  }

  /** @param credential `checkInSeconds`: until its first check in the background */
  async create(
    tx: Tx,
    organization: OrganizationId,
    credential: {
      id: string;
      name: string;
      provider: Provider;
      credentialType: string;
      hints: Readonly<Record<string, string>>;
      sealedData: Readonly<Record<string, string>>;
      checkInSeconds: number;
    },
  ): Promise<CredentialRow> {
    const [row] = await tx.query<CredentialRow[]>(
      `INSERT INTO credentials AS c
         (id, organization_id, name, provider, credential_type, hints, sealed_data, check_due_at)
       VALUES ($1, $2, $3, $4, $5, $6, $7, now() + make_interval(secs => $8)) RETURNING ${COLUMNS}`,
      [
        credential.id,
        organization,
        credential.name,
        credential.provider,
        credential.credentialType,
        JSON.stringify(credential.hints),
        JSON.stringify(credential.sealedData),
        credential.checkInSeconds,
      ],
    );
    return row!;
  }

  list(tx: Tx, organization: OrganizationId, query: ListQuery): Promise<Sliced<CredentialRow>> {
    return listPage(tx, CREDENTIAL_LIST, organization, query);
  }

  find(tx: Tx, organization: OrganizationId, id: string): Promise<CredentialRow | null> {
    return first<CredentialRow>(
      tx,
      `SELECT ${COLUMNS} FROM credentials c WHERE c.organization_id = $1 AND c.id = $2 AND c.deleted_at IS NULL`,
      [organization, id],
    );
  }

  /**
   * Renames it or replaces its secrets; replaced secrets are unverified.
   * @returns null when there is no such credential
   */
  async update(
    tx: Tx,
    organization: OrganizationId,
    id: string,
    change: {
      readonly name?: string | undefined;
      readonly secrets?: Pick<SealedCredential, 'sealedData'> & Pick<CredentialRow, 'hints'>;
    },
  ): Promise<CredentialRow | null> {
    const rotation = change.secrets
      ? `, hints = $4, sealed_data = $5, is_valid = NULL, verification_error = NULL, last_verified_at = NULL,
         check_due_at = now(), check_attempts = 0`
      : '';
    const secrets = change.secrets
      ? [JSON.stringify(change.secrets.hints), JSON.stringify(change.secrets.sealedData)]
      : [];
    const [row] = await rows<CredentialRow>(
      tx,
      `UPDATE credentials c SET name = coalesce($3, c.name), updated_at = now()${rotation}
       WHERE c.organization_id = $1 AND c.id = $2 AND c.deleted_at IS NULL RETURNING ${COLUMNS}`,
      [organization, id, change.name ?? null, ...secrets],
    );
    if (row && change.secrets) await this.invalidateVerifications(tx, organization, id);
    return row ?? null;
  }

  /** New secrets may have other permissions: resources that were verified once are due for verification now. */
  private async invalidateVerifications(tx: Tx, organization: OrganizationId, id: string): Promise<void> {
    await tx.query(
      `UPDATE resources SET write_verified = false,
         verify_due_at = CASE WHEN last_verified_at IS NULL THEN verify_due_at ELSE now() END
       WHERE organization_id = $1 AND credential_id = $2 AND deleted_at IS NULL`,
      [organization, id],
    );
  }

  /**
   * Locks the credential until the transaction ends: creating a resource that references it blocks on the foreign key.
   * @returns null when there is no such credential
   */
  async lockedUse(tx: Tx, organization: OrganizationId, id: string): Promise<CredentialUse | null> {
    const [locked] = await tx.query<{ name: string }[]>(
      'SELECT name FROM credentials WHERE organization_id = $1 AND id = $2 AND deleted_at IS NULL FOR UPDATE',
      [organization, id],
    );
    if (!locked) return null;
    // a separate statement sees what was committed while this one waited for the lock
    const [use] = await tx.query<Omit<CredentialUse, 'name'>[]>(
      `SELECT ARRAY(SELECT name FROM resources
           WHERE organization_id = $1 AND credential_id = $2 AND deleted_at IS NULL ORDER BY name) AS resources,
         EXISTS (SELECT FROM rules r JOIN rule_holders h ON h.rule_id = r.id AND h.released_at IS NULL
             JOIN resource_ips ip ON ip.id = h.resource_ip_id AND ip.organization_id = $1
           WHERE r.credential_id = $2 AND r.state <> 'absent') AS "hasHeldRules",
         EXISTS (SELECT FROM rules r WHERE r.credential_id = $2 AND r.state <> 'absent'
           AND (c.is_valid IS FALSE OR r.last_error IS NOT NULL)
           AND NOT EXISTS (SELECT FROM rule_holders h WHERE h.rule_id = r.id AND h.released_at IS NULL)) AS "isStuck"
       FROM credentials c WHERE c.id = $2`,
      [organization, id],
    );
    return { name: locked.name, ...use! };
  }

  /** Removes it from the API; `SweepStore.purgeCredentials` deletes row and secrets once its last rule is closed. */
  async remove(tx: Tx, organization: OrganizationId, id: string): Promise<void> {
    const unused = await rows(
      tx,
      `DELETE FROM credentials c WHERE c.organization_id = $1 AND c.id = $2
         AND NOT EXISTS (SELECT FROM resources WHERE credential_id = c.id)
         AND NOT EXISTS (SELECT FROM rules WHERE credential_id = c.id) RETURNING id`,
      [organization, id],
    );
    if (unused.length > 0) return;
    await tx.query(
      `UPDATE credentials SET deleted_at = now(), check_due_at = now() WHERE organization_id = $1 AND id = $2`,
      [organization, id],
    );
  }

  /**
   * Records the result of a requested check, unless the secrets were replaced meanwhile.
   * @param checked the secrets as they were checked
   * @param failure why the provider refused it; null when it is valid
   */
  async recordCheck(
    tx: Tx,
    organization: OrganizationId,
    { id, sealedData }: Pick<SealedCredential, 'id' | 'sealedData'>,
    failure: string | null,
  ): Promise<void> {
    await tx.query(
      `UPDATE credentials SET ${credentialChecked('$4')}
       WHERE organization_id = $1 AND id = $2 AND sealed_data = $3::jsonb`,
      [organization, id, JSON.stringify(sealedData), failure],
    );
  }

  /** Records an unanswered check: the known validity is kept, and the check is repeated soon. */
  async recordNoAnswer(
    tx: Tx,
    organization: OrganizationId,
    { id, sealedData }: Pick<SealedCredential, 'id' | 'sealedData'>,
    message: string,
  ): Promise<void> {
    await tx.query(
      `UPDATE credentials SET verification_error = $4, check_due_at = now() + interval '30 seconds'
       WHERE organization_id = $1 AND id = $2 AND sealed_data = $3::jsonb`,
      [organization, id, JSON.stringify(sealedData), message],
    );
  }

  /** Locks a credential against deletion until the transaction ends. */
  lock(
    tx: Tx,
    organization: OrganizationId,
    id: string,
  ): Promise<Pick<CredentialRow, 'provider' | 'hints'> | null> {
    return first<Pick<CredentialRow, 'provider' | 'hints'>>(
      tx,
      `SELECT provider, hints FROM credentials WHERE organization_id = $1 AND id = $2 AND deleted_at IS NULL
       FOR KEY SHARE`,
      [organization, id],
    );
  }

  sealed(tx: Tx, organization: OrganizationId, id: string): Promise<SealedCredential | null> {
    return first<SealedCredential>(
      tx,
      `${SELECT_SEALED_CREDENTIAL} WHERE c.organization_id = $1 AND c.id = $2 AND c.deleted_at IS NULL`,
      [organization, id],
    );
  }
}
