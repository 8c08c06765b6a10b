import { PROVIDERS, type OrganizationId } from '#rules';
import {
  CredentialEntity,
  type DataKeyRow,
  SELECT_SEALED_CREDENTIAL,
  type SealedCredential,
  type ListDefinition,
  type TenantStore,
  type Tx,
  choiceFilter,
  first,
  insertRow,
  rows,
  touches,
} from '#entities';
import { ListedStore } from '../listed-store';
import { DATA_KEY_COLUMNS, hasSecrets } from './credential-secrets';

export interface CredentialRow extends Readonly<
  Omit<
    CredentialEntity,
    | 'organizationId'
    | 'sealedData'
    | 'checkDueAt'
    | 'checkAttempts'
    | 'deletedAt'
    | 'parentId'
    | 'account'
    | 'accountsDueAt'
    | 'accountsAskedAt'
  >
> {
  /** when its provider last listed accounts; null: never */
  readonly accountsListedAt: Date | null;
  /** the organization's external id, for cloud roles that this service assumes */
  readonly externalId: string;
}

/** A credential locked against deletion. */
export type LockedCredential = Pick<CredentialRow, 'id' | 'provider' | 'credentialType' | 'hints'>;

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

/** SQL: of a credential `c` for many accounts, its rows for those in use. */
const IN_ACCOUNTS = 'FROM credentials one WHERE one.parent_id = c.id AND one.deleted_at IS NULL';
/** SQL: false where an account refuses it. */
const IS_VALID = `CASE WHEN EXISTS (SELECT ${IN_ACCOUNTS} AND NOT one.is_valid) THEN false
  ELSE coalesce(c.is_valid, (SELECT bool_and(one.is_valid) ${IN_ACCOUNTS})) END`;
const VERIFIED_AT = `greatest(c.last_verified_at, (SELECT max(one.last_verified_at) ${IN_ACCOUNTS}))`;
const ERROR = `coalesce(c.verification_error, (SELECT one.account || ': ' || one.verification_error ${IN_ACCOUNTS}
  AND one.verification_error IS NOT NULL ORDER BY one.account LIMIT 1))`;

const COLUMNS = `c.id, c.name, c.provider, c.credential_type AS "credentialType", c.hints, ${IS_VALID} AS "isValid",
  ${VERIFIED_AT} AS "lastVerifiedAt", ${ERROR} AS "verificationError",
  (SELECT max(a.listed_at) FROM cloud_accounts a WHERE a.credential_id = c.id) AS "accountsListedAt",
  c.accounts_error AS "accountsError",
  (SELECT o.external_id FROM organizations o WHERE o.id = c.organization_id) AS "externalId",
  c.created_at AS "createdAt", c.updated_at AS "updatedAt"`;

/** SQL: a credential that is not deleted, no row for one account. */
const IS_SHOWN = 'c.deleted_at IS NULL AND c.parent_id IS NULL';
/** SQL: the ids of the credential $2 and of its rows for accounts. */
const FAMILY = `(SELECT id FROM credentials WHERE organization_id = $1 AND (id = $2 OR parent_id = $2))`;

const SELECT = `SELECT ${COLUMNS} FROM credentials c WHERE c.organization_id = $1 AND ${IS_SHOWN}`;

export const CREDENTIAL_LIST: ListDefinition = {
  list: SELECT,
  id: 'c.id',
  search: ['c.name', `(SELECT string_agg(hint.value, ' ') FROM jsonb_each_text(c.hints) hint)`],
  sort: { name: 'c.name', lastVerifiedAt: VERIFIED_AT },
  order: 'name',
  filters: {
    provider: choiceFilter('c.provider', PROVIDERS),
    credentialType: choiceFilter('c.credential_type', []),
    state: choiceFilter(
      `CASE ${IS_VALID} WHEN true THEN 'VALID' WHEN false THEN 'INVALID' ELSE 'UNCHECKED' END`,
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

export class CredentialStore extends ListedStore<CredentialRow> implements TenantStore<CredentialStore> {
  protected readonly definition = CREDENTIAL_LIST;

  /** The organization's newest data key; null before its first secret. */
  dataKey(tx: Tx, organization: OrganizationId): Promise<DataKeyRow | null> {
    return first(
      tx,
      `SELECT ${DATA_KEY_COLUMNS} FROM data_keys WHERE organization_id = $1 ORDER BY version DESC LIMIT 1`,
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

  /** @param credential `checkInSeconds`: until its first check in the background; null: it is checked in each account */
  async create(
    tx: Tx,
    organization: OrganizationId,
    {
      checkInSeconds,
      ...credential
    }: Pick<CredentialEntity, 'id' | 'name' | 'provider' | 'credentialType' | 'hints' | 'sealedData'> & {
      readonly checkInSeconds: number | null;
    },
  ): Promise<CredentialRow> {
    const checkDueAt =
      checkInSeconds === null ? null : (): string => `now() + make_interval(secs => ${checkInSeconds})`;
    await insertRow(tx, CredentialEntity, { ...credential, organizationId: organization, checkDueAt });
    return (await this.find(tx, organization, credential.id))!;
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
    const { name = null, secrets } = change;
    const unchecked = `is_valid = NULL, verification_error = NULL, last_verified_at = NULL, check_attempts = 0`;
    // one for many accounts is checked in each
    const rotation = secrets
      ? `, hints = $4, sealed_data = $5, ${unchecked}, accounts_error = NULL,
         accounts_due_at = CASE WHEN accounts_due_at IS NOT NULL THEN now() END,
         check_due_at = CASE WHEN check_due_at IS NOT NULL THEN now() END`
      : '';
    const given = secrets ? [JSON.stringify(secrets.hints), JSON.stringify(secrets.sealedData)] : [];
    const changed = await touches(
      tx,
      `UPDATE credentials c SET name = coalesce($3, c.name), updated_at = now()${rotation}
       WHERE c.organization_id = $1 AND c.id = $2 AND ${IS_SHOWN} RETURNING 1`,
      [organization, id, name, ...given],
    );
    if (!changed) return null;
    await tx.query(
      `UPDATE credentials SET name = coalesce($3, name)${secrets ? `, ${unchecked}, check_due_at = now()` : ''}
       WHERE organization_id = $1 AND parent_id = $2`,
      [organization, id, name],
    );
    if (secrets) await this.invalidateVerifications(tx, organization, id);
    return this.find(tx, organization, id);
  }

  /** New secrets may have other permissions: resources that were verified once are due for verification now. */
  private async invalidateVerifications(tx: Tx, organization: OrganizationId, id: string): Promise<void> {
    await tx.query(
      `UPDATE resources SET write_verified = false,
         verify_due_at = CASE WHEN last_verified_at IS NULL THEN verify_due_at ELSE now() END
       WHERE organization_id = $1 AND credential_id IN ${FAMILY} AND deleted_at IS NULL`,
      [organization, id],
    );
  }

  /**
   * Locks the credential until the transaction ends: creating a resource that references it blocks on the foreign key.
   * @returns null when there is no such credential
   */
  async lockUse(tx: Tx, organization: OrganizationId, id: string): Promise<CredentialUse | null> {
    const [locked] = await tx.query<{ name: string }[]>(
      `SELECT name FROM credentials c WHERE organization_id = $1 AND id = $2 AND ${IS_SHOWN} FOR UPDATE`,
      [organization, id],
    );
    if (!locked) return null;
    await tx.query('SELECT FROM credentials WHERE organization_id = $1 AND parent_id = $2 FOR UPDATE', [
      organization,
      id,
    ]);
    // a separate statement sees what was committed while this one waited for the lock
    const [use] = await tx.query<Omit<CredentialUse, 'name'>[]>(
      `SELECT ARRAY(SELECT name FROM resources
           WHERE organization_id = $1 AND credential_id IN ${FAMILY} AND deleted_at IS NULL ORDER BY name) AS resources,
         EXISTS (SELECT FROM rules r JOIN rule_holders h ON h.rule_id = r.id AND h.released_at IS NULL
             JOIN resource_ips ip ON ip.id = h.resource_ip_id AND ip.organization_id = $1
           WHERE r.credential_id IN ${FAMILY} AND r.state <> 'absent') AS "hasHeldRules",
         EXISTS (SELECT FROM rules r JOIN credentials c ON c.id = r.credential_id
           WHERE r.credential_id IN ${FAMILY} AND r.state <> 'absent' AND (c.is_valid IS FALSE OR r.last_error IS NOT NULL)
           AND NOT EXISTS (SELECT FROM rule_holders h WHERE h.rule_id = r.id AND h.released_at IS NULL)) AS "isStuck"`,
      [organization, id],
    );
    return { name: locked.name, ...use! };
  }

  /** Removes it from the API; `SweepStore.purgeCredentials` deletes row and secrets once its last rule is closed. */
  async remove(tx: Tx, organization: OrganizationId, id: string): Promise<void> {
    const unused = await rows(
      tx,
      `DELETE FROM credentials WHERE id IN ${FAMILY}
         AND NOT EXISTS (SELECT FROM resources WHERE credential_id IN ${FAMILY})
         AND NOT EXISTS (SELECT FROM rules WHERE credential_id IN ${FAMILY}) RETURNING id`,
      [organization, id],
    );
    if (unused.length > 0) return;
    await tx.query(`UPDATE credentials SET deleted_at = now(), check_due_at = now() WHERE id IN ${FAMILY}`, [
      organization,
      id,
    ]);
  }

  /**
   * Records the result of a requested check, unless the secrets were replaced meanwhile.
   * @param checked the credential, or its row for an account, and the secrets as they were checked
   * @param failure why the provider refused it; null when it is valid
   */
  async recordCheck(
    tx: Tx,
    organization: OrganizationId,
    { id, sealedData }: Pick<SealedCredential, 'id' | 'sealedData'>,
    failure: string | null,
  ): Promise<void> {
    if (!(await hasSecrets(tx, organization, id, sealedData, 'NO KEY UPDATE'))) return;
    await tx.query(
      `UPDATE credentials SET ${credentialChecked('$3')} WHERE organization_id = $1 AND id = $2`,
      [organization, id, failure],
    );
  }

  /** Records an unanswered check: the known validity is kept, and the check is repeated soon. */
  async recordNoAnswer(
    tx: Tx,
    organization: OrganizationId,
    { id, sealedData }: Pick<SealedCredential, 'id' | 'sealedData'>,
    message: string,
  ): Promise<void> {
    if (!(await hasSecrets(tx, organization, id, sealedData, 'NO KEY UPDATE'))) return;
    await tx.query(
      `UPDATE credentials SET verification_error = $3, check_due_at = now() + interval '30 seconds'
       WHERE organization_id = $1 AND id = $2`,
      [organization, id, message],
    );
  }

  /** Locks a credential against deletion until the transaction ends. */
  lock(tx: Tx, organization: OrganizationId, id: string): Promise<LockedCredential | null> {
    return first(
      tx,
      `SELECT id, provider, credential_type AS "credentialType", hints FROM credentials c
       WHERE organization_id = $1 AND id = $2 AND ${IS_SHOWN} FOR KEY SHARE`,
      [organization, id],
    );
  }

  /** @param id of the credential, or of its row for an account */
  findSealed(tx: Tx, organization: OrganizationId, id: string): Promise<SealedCredential | null> {
    return first(
      tx,
      `${SELECT_SEALED_CREDENTIAL} WHERE c.organization_id = $1 AND c.id = $2 AND c.deleted_at IS NULL`,
      [organization, id],
    );
  }
}
