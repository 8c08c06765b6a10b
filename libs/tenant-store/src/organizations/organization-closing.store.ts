import type { OrganizationId } from '#rules';
import { UNFINISHED, type Tx, rows } from '#entities';

/** Secrets, and what is of use only while there are users. */
const NEEDED_WHILE_OPEN = [
  'data_keys',
  'credentials',
  'oidc_trusts',
  'webhooks',
  'notice_cursors',
  'identity_providers',
  'lockdowns',
  'agents',
  'access_requests',
  'api_keys',
  'roles',
  'billing_details',
];
/** What sessions and invoices refer to. */
const NEEDED_BY_HISTORY = ['payments', 'subscriptions', 'static_ip_rules', 'users'];

/** Finishes the deletion of organizations. Serves all of them. With OFFSET 0 a table is probed, not joined as a whole. */
export class OrganizationClosingStore {
  /**
   * Closes deleted organizations that hold no rule any more: nothing in a cloud depends on their secrets. Cheap
   * conditions come first; the last one reads all live rules.
   */
  async close(tx: Tx, limit: number): Promise<{ id: OrganizationId; name: string }[]> {
    const closed = await rows<{ id: OrganizationId; name: string }>(
      tx,
      `UPDATE organizations SET closed_at = now(), updated_at = now() WHERE id IN (
         SELECT o.id FROM organizations o WHERE o.deleted_at IS NOT NULL AND o.closed_at IS NULL
           AND NOT EXISTS (SELECT FROM resources WHERE organization_id = o.id OFFSET 0)
           AND NOT EXISTS (SELECT FROM sessions WHERE organization_id = o.id AND status IN (${UNFINISHED}) OFFSET 0)
           AND NOT EXISTS (SELECT FROM subscriptions WHERE organization_id = o.id AND status NOT IN ('CANCELLED', 'EXPIRED'))
           AND NOT EXISTS (SELECT FROM credentials c JOIN rules r ON r.credential_id = c.id WHERE c.organization_id = o.id)
         LIMIT $1 FOR UPDATE SKIP LOCKED)
       RETURNING id, name`,
      [limit],
    );
    const ids = closed.map(({ id }) => id);
    if (ids.length === 0) return [];
    await tx.query(
      `DELETE FROM recovery_codes WHERE user_id IN (SELECT id FROM users WHERE organization_id = ANY ($1))`,
      [ids],
    );
    for (const table of NEEDED_WHILE_OPEN)
      await tx.query(`DELETE FROM ${table} WHERE organization_id = ANY ($1)`, [ids]);
    await tx.query(
      `UPDATE users SET email = id || '@deleted.invalid', name = 'Deleted user', is_active = false,
         deleted_at = coalesce(deleted_at, now()) WHERE organization_id = ANY ($1)`,
      [ids],
    );
    return closed;
  }

  /** Deletes closed organizations whose sessions and audit records are gone. @returns how many */
  async forget(tx: Tx, limit: number): Promise<number> {
    const gone = await tx.query<{ id: string }[]>(
      `SELECT o.id FROM organizations o WHERE o.deleted_at IS NOT NULL AND o.closed_at IS NOT NULL
         AND NOT EXISTS (SELECT FROM sessions WHERE organization_id = o.id OFFSET 0)
         AND NOT EXISTS (SELECT FROM audit_records WHERE organization_id = o.id OFFSET 0)
       LIMIT $1 FOR UPDATE SKIP LOCKED`,
      [limit],
    );
    const ids = gone.map(({ id }) => id);
    if (ids.length === 0) return 0;
    for (const table of NEEDED_BY_HISTORY)
      await tx.query(`DELETE FROM ${table} WHERE organization_id = ANY ($1)`, [ids]);
    await tx.query('DELETE FROM organizations WHERE id = ANY ($1)', [ids]);
    return ids.length;
  }
}
