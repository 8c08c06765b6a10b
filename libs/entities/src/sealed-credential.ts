import type { OrganizationId, Provider } from '#rules';

/** An encrypted credential: decrypted only by the process that is about to use it. */
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

/** SQL: a `SealedCredential` from `credentials c`, with its organization's newest data key. */
export const SELECT_SEALED_CREDENTIAL = `SELECT c.id, c.organization_id AS "organizationId", c.provider,
    c.credential_type AS "credentialType", c.sealed_data AS "sealedData", o.external_id AS "externalId",
    jsonb_build_object('organizationId', k.organization_id, 'version', k.version,
      'masterKeyVersion', k.master_key_version, 'wrappedKey', k.wrapped_key) AS "dataKey"
  FROM credentials c JOIN organizations o ON o.id = c.organization_id
  JOIN LATERAL (SELECT * FROM data_keys k WHERE k.organization_id = c.organization_id
    ORDER BY k.version DESC LIMIT 1) k ON true`;
