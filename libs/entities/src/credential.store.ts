import type { OrganizationId, Provider } from '#rules';
import type { Tx } from './database';
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
  readonly createdAt: Date;
  readonly updatedAt: Date;
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
  c.created_at AS "createdAt", c.updated_at AS "updatedAt"`;

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

  list(tx: Tx, organization: OrganizationId): Promise<CredentialRow[]> {
    return tx.query(
      `SELECT ${COLUMNS} FROM credentials c WHERE c.organization_id = $1 ORDER BY c.name, c.id`,
      [organization],
    );
  }

  async find(tx: Tx, organization: OrganizationId, id: string): Promise<CredentialRow | null> {
    const [row] = await tx.query<CredentialRow[]>(
      `SELECT ${COLUMNS} FROM credentials c WHERE c.organization_id = $1 AND c.id = $2`,
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
