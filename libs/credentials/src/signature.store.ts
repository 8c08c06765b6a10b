import {
  type AuditEntry,
  type TenantStore,
  type Tx,
  auditInsert,
  auditJson,
  auditTable,
  touches,
} from '#entities';
import type { OrganizationId } from '#rules';

/** Records of the tokens that were signed about an organization's credentials. */
export class SignatureStore implements TenantStore<SignatureStore> {
  /**
   * Records a signature about a credential that still exists, in one statement. A deleted credential exists until the last
   * rule that it wrote is removed.
   * @returns whether the credential exists: without it nothing is recorded, and nothing may be signed
   */
  record(tx: Tx, organization: OrganizationId, credentialId: string, entry: AuditEntry): Promise<boolean> {
    return touches(
      tx,
      `${auditInsert('$1::uuid', '$2', auditTable(tx))}
       WHERE EXISTS (SELECT FROM credentials WHERE organization_id = $1::uuid AND id = $3) RETURNING 1`,
      [organization, auditJson(entry), credentialId],
    );
  }
}
