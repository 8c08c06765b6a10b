import { unwrapDataKey, type StoredDataKey } from './data-keys';
import { openField, sealField } from './field-seal';
import type { MasterKeys } from './master-keys';

/** A credential's encrypted secret fields, with the data key they were sealed under. */
export interface StoredSecrets {
  readonly id: string;
  readonly organizationId: string;
  readonly sealedData: Readonly<Record<string, string>>;
  readonly dataKey: StoredDataKey;
}

/**
 * Seals every field of a credential.
 * @param credentialId bound in as associated data: the fields open for this credential only
 */
export function sealCredential(
  masterKeys: MasterKeys,
  stored: StoredDataKey,
  credentialId: string,
  fields: Readonly<Record<string, string>>,
): Record<string, string> {
  const dataKey = unwrapDataKey(masterKeys, stored);
  const { organizationId } = stored;
  return mapFields(fields, (value, field) =>
    sealField(dataKey, { organizationId, ownerId: credentialId, field }, value),
  );
}

/** @throws SealBrokenError when a field was altered or belongs to another credential */
export function openCredential(masterKeys: MasterKeys, stored: StoredSecrets): Record<string, string> {
  const dataKey = unwrapDataKey(masterKeys, stored.dataKey);
  const { organizationId, id: credentialId } = stored;
  return mapFields(stored.sealedData, (value, field) =>
    openField(dataKey, { organizationId, ownerId: credentialId, field }, value),
  );
}

const mapFields = (
  fields: Readonly<Record<string, string>>,
  change: (value: string, field: string) => string,
): Record<string, string> =>
  Object.fromEntries(Object.entries(fields).map(([field, value]) => [field, change(value, field)]));
