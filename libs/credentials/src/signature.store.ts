import { auditInsert, auditJson, auditTable, type AuditEntry, type TenantStore, type Tx } from '#entities';
import type { OrganizationId } from '#rules';

/** Records of the tokens that were signed about an organization's credentials. */
export class SignatureStore implements TenantStore<SignatureStore> {
  /**
   * Records a signature about a credential that still exists, in one statement. A deleted credential exists until the last
   * rule that it wrote is removed.
   * @returns whether the credential exists: without it nothing is recorded, and nothing may be signed
   */
  async record(
    tx: Tx,
    organization: OrganizationId,
    credentialId: string,
    entry: AuditEntry,
  ): Promise<boolean> {
    const recorded = await tx.query<unknown[]>(
      `${auditInsert('$1::uuid', '$2', auditTable(tx))}
       WHERE EXISTS (SELECT FROM credentials WHERE organization_id = $1::uuid AND id = $3) RETURNING 1`,
      [organization, auditJson(entry), credentialId],
    );
    return recorded.length > 0;
  }
}
