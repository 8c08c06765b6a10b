import type { Tx } from '#entities';
import type { OrganizationId } from '#rules';

/** Until the transaction ends: of those that lock the user one goes on. */
export async function lockUser(tx: Tx, organization: OrganizationId, userId: string): Promise<void> {
  const user = [organization, userId];
  await tx.query('SELECT FROM users WHERE organization_id = $1 AND id = $2 FOR NO KEY UPDATE', user);
}
