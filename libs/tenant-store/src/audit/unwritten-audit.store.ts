import type { OrganizationId } from '#rules';
import { type Tx, auditInsert, rows } from '#entities';

/** Serves all organizations: audit records of revocations that could not be written into the trail. */
export class UnwrittenAuditStore {
  async organizations(tx: Tx): Promise<OrganizationId[]> {
    const found = await tx.query<{ id: OrganizationId }[]>(
      'SELECT DISTINCT organization_id AS id FROM unwritten_audit_records',
    );
    return found.map(({ id }) => id);
  }

  /**
   * Moves an organization's oldest ones into the trail, each with the time of its action.
   * @returns how many, at most `limit` @throws Error when the trail still refuses them
   */
  async write(tx: Tx, organization: OrganizationId, limit: number): Promise<number> {
    const taken = await rows<{ entry: object }>(
      tx,
      `DELETE FROM unwritten_audit_records WHERE id IN (
         SELECT id FROM unwritten_audit_records WHERE organization_id = $1
         ORDER BY id LIMIT $2 FOR UPDATE SKIP LOCKED)
       RETURNING id, entry || jsonb_build_object('timestamp', kept_at) AS entry`,
      [organization, limit],
    );
    if (taken.length > 0) {
      await tx.query(auditInsert('$1', '$2'), [
        organization,
        JSON.stringify(taken.map(({ entry }) => entry)),
      ]);
    }
    return taken.length;
  }
}
