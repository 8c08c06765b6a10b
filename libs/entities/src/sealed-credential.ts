import type { OrganizationId, Provider } from '#rules';

/** An encrypted credential: decrypted only by the process that is about to use it. */
export interface SealedCredential {
  /** of the credential that has the secrets: of its row for one account, the credential itself */
  readonly id: string;
  /** that it is used in; null: the one that its fields name */
  readonly account: string | null;
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

/** SQL: the data key `k` as a `DataKeyRow`. */
export const DATA_KEY = `jsonb_build_object('organizationId', k.organization_id, 'version', k.version,
    'masterKeyVersion', k.master_key_version, 'wrappedKey', k.wrapped_key) AS "dataKey"`;

/** SQL, to join: an organization's newest data key `k`. */
export const newestDataKey = (organization: string): string =>
  `LATERAL (SELECT * FROM data_keys k WHERE k.organization_id = ${organization} ORDER BY k.version DESC LIMIT 1) k`;

/** SQL: a `SealedCredential` from `credentials c` or its row for one account, with its organization's newest data key. */
export const SELECT_SEALED_CREDENTIAL = `SELECT own.id, c.account, c.organization_id AS "organizationId", own.provider,
    own.credential_type AS "credentialType", own.sealed_data AS "sealedData", o.external_id AS "externalId", ${DATA_KEY}
  FROM credentials c JOIN credentials own ON own.id = coalesce(c.parent_id, c.id) AND own.organization_id = c.organization_id
  JOIN organizations o ON o.id = c.organization_id
  JOIN ${newestDataKey('c.organization_id')} ON true`;
