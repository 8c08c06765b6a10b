import { auditInsert, auditJson, type AuditEntry, type TenantStore, type Trail, type Tx } from '#entities';
import type { OrganizationId } from '#rules';

/** Records of the tokens that were signed about an organization's credentials. */
export class SignatureStore implements TenantStore<SignatureStore> {
  /**
   * Records a signature about a credential that still exists, in one statement. A deleted credential exists until the last
   * rule that it wrote is removed.
   * @param trail as given by `withAuditFallback`: removing rules goes on when the trail takes no records
   * @returns whether the credential exists: without it nothing is recorded, and nothing may be signed
   */
  async record(
    tx: Tx,
    organization: OrganizationId,
    credentialId: string,
    trail: Trail,
    entry: AuditEntry,
  ): Promise<boolean> {
    const recorded = await tx.query<unknown[]>(
      `${auditInsert('$1::uuid', '$2', trail)}
       WHERE EXISTS (SELECT FROM credentials WHERE organization_id = $1::uuid AND id = $3) RETURNING 1`,
      [organization, auditJson(entry), credentialId],
    );
    return recorded.length > 0;
  }
}
