import type { OrganizationId, Provider } from '#rules';
import { returned, type Tx } from './database';
import { sliced, type Slice, type Sliced } from './slice';
import type { TenantStore } from './tenant-store';

export interface CredentialRow {
  readonly id: string;
  readonly name: string;
  readonly provider: Provider;
  readonly credentialType: string;
  readonly hints: Readonly<Record<string, string>>;
  readonly isValid: boolean | null;
  readonly lastVerifiedAt: Date | null;
  readonly verificationError: string | null;
  /** the organization's, for roles that it lets us assume */
  readonly externalId: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** What still needs a credential. */
export interface CredentialUse {
  readonly name: string;
  /** names of resources; one that is being deleted counts until its last rule is out */
  readonly resources: readonly string[];
  /** rules that were written with it may still be in the cloud */
  readonly hasRules: boolean;
}

/** A credential as it lies in the database: opened only by the process that is about to use it. */
export interface SealedCredential {
  readonly id: string;
  readonly organizationId: OrganizationId;
  readonly provider: Provider;
  readonly credentialType: string;
  readonly sealedData: Readonly<Record<string, string>>;
  readonly externalId: string;
  readonly dataKey: DataKeyRow;
}

export interface DataKeyRow {
  readonly organizationId: OrganizationId;
  readonly version: number;
  readonly masterKeyVersion: number;
  readonly wrappedKey: string;
}

const COLUMNS = `c.id, c.name, c.provider, c.credential_type AS "credentialType", c.hints, c.is_valid AS "isValid",
  c.last_verified_at AS "lastVerifiedAt", c.verification_error AS "verificationError",
  (SELECT o.external_id FROM organizations o WHERE o.id = c.organization_id) AS "externalId",
  c.created_at AS "createdAt", c.updated_at AS "updatedAt"`;

/**
 * The SET of a check that the provider answered; checked again after a day.
 * @param failure parameter that holds why it was refused, null when it was not
 */
export const credentialChecked = (failure: string): string => `is_valid = (${failure}::text IS NULL),
  verification_error = ${failure}::text, last_verified_at = now(), check_attempts = 0,
  check_due_at = now() + interval '24 hours'`;

const SEALED = `SELECT c.id, c.organization_id AS "organizationId", c.provider,
    c.credential_type AS "credentialType", c.sealed_data AS "sealedData", o.external_id AS "externalId",
    jsonb_build_object('organizationId', k.organization_id, 'version', k.version,
      'masterKeyVersion', k.master_key_version, 'wrappedKey', k.wrapped_key) AS "dataKey"
  FROM credentials c JOIN organizations o ON o.id = c.organization_id
  JOIN LATERAL (SELECT * FROM data_keys k WHERE k.organization_id = c.organization_id
    ORDER BY k.version DESC LIMIT 1) k ON true`;

export class CredentialStore implements TenantStore<CredentialStore> {
  /** The organization's newest data key; null before its first secret. */
  async dataKey(tx: Tx, organization: OrganizationId): Promise<DataKeyRow | null> {
    const [row] = await tx.query<DataKeyRow[]>(
      `SELECT organization_id AS "organizationId", version, master_key_version AS "masterKeyVersion",
         wrapped_key AS "wrappedKey"
       FROM data_keys WHERE organization_id = $1 ORDER BY version DESC LIMIT 1`,
      [organization],
    );
    return row ?? null;
  }

  /** Keeps the first data key of an organization; of two at once the first stays and both callers get it. */
  async keepDataKey(
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
    },
  ): Promise<CredentialRow> {
    const [row] = await tx.query<CredentialRow[]>(
      `INSERT INTO credentials AS c (id, organization_id, name, provider, credential_type, hints, sealed_data)
       VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING ${COLUMNS}`,
      [
        credential.id,
        organization,
        credential.name,
        credential.provider,
        credential.credentialType,
        JSON.stringify(credential.hints),
        JSON.stringify(credential.sealedData),
      ],
    );
    return row!;
  }

  /** By name. */
  list(tx: Tx, organization: OrganizationId, slice: Slice): Promise<Sliced<CredentialRow>> {
    return sliced(
      tx,
      {
        counted: 'FROM credentials WHERE organization_id = $1',
        rows: `SELECT ${COLUMNS} FROM credentials c WHERE c.organization_id = $1 ORDER BY c.name, c.id`,
      },
      [organization],
      slice,
    );
  }

  async find(tx: Tx, organization: OrganizationId, id: string): Promise<CredentialRow | null> {
    const [row] = await tx.query<CredentialRow[]>(
      `SELECT ${COLUMNS} FROM credentials c WHERE c.organization_id = $1 AND c.id = $2`,
      [organization, id],
    );
    return row ?? null;
  }

  /** Renames it, or puts other secrets in, of which nothing is known before they are checked. @returns null when gone */
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
    const [row] = returned<CredentialRow>(
      await tx.query(
        `UPDATE credentials c SET name = coalesce($3, c.name), updated_at = now()${rotation}
         WHERE c.organization_id = $1 AND c.id = $2 RETURNING ${COLUMNS}`,
        [organization, id, change.name ?? null, ...secrets],
      ),
    );
    return row ?? null;
  }

  /**
   * Locks the credential, so that nobody begins to use it before the transaction ends: a resource that names it waits
   * at its foreign key. @returns null when there is no such credential
   */
  async lockedUse(tx: Tx, organization: OrganizationId, id: string): Promise<CredentialUse | null> {
    const [locked] = await tx.query<{ name: string }[]>(
      'SELECT name FROM credentials WHERE organization_id = $1 AND id = $2 FOR UPDATE',
      [organization, id],
    );
    if (!locked) return null;
    // a statement of its own: it sees what was committed while the lock was waited for
    const [use] = await tx.query<Omit<CredentialUse, 'name'>[]>(
      `SELECT ARRAY(SELECT name FROM resources WHERE organization_id = $1 AND credential_id = $2 ORDER BY name) AS resources,
         EXISTS (SELECT FROM rules WHERE credential_id = $2 AND state <> 'absent') AS "hasRules"`,
      [organization, id],
    );
    return { name: locked.name, ...use! };
  }

  async remove(tx: Tx, organization: OrganizationId, id: string): Promise<void> {
    await tx.query('DELETE FROM credentials WHERE organization_id = $1 AND id = $2', [organization, id]);
  }

  /**
   * Notes what a requested check found, unless other secrets came in meanwhile.
   * @param checked the secrets as they were checked
   * @param failure why the provider refused it; null when it took it
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

  /** Notes that the provider did not say: what was known stays, and it is asked again soon. */
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

  /** A credential that is about to be used: until the transaction ends nobody deletes it. */
  async lock(
    tx: Tx,
    organization: OrganizationId,
    id: string,
  ): Promise<Pick<CredentialRow, 'provider' | 'hints'> | null> {
    const [row] = await tx.query<Pick<CredentialRow, 'provider' | 'hints'>[]>(
      'SELECT provider, hints FROM credentials WHERE organization_id = $1 AND id = $2 FOR KEY SHARE',
      [organization, id],
    );
    return row ?? null;
  }

  async sealed(tx: Tx, organization: OrganizationId, id: string): Promise<SealedCredential | null> {
    const [row] = await tx.query<SealedCredential[]>(`${SEALED} WHERE c.organization_id = $1 AND c.id = $2`, [
      organization,
      id,
    ]);
    return row ?? null;
  }
}

/** The worker serves every organization: it follows a rule to the credential it was written with. */
export async function sealedCredentialForConvergence(
  tx: Tx,
  credentialId: string,
): Promise<SealedCredential | null> {
  const [row] = await tx.query<SealedCredential[]>(`${SEALED} WHERE c.id = $1`, [credentialId]);
  return row ?? null;
}
