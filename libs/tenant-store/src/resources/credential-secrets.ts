import type { SealedCredential, Tx } from '#entities';
import type { OrganizationId } from '#rules';

/**
 * Whether a credential, or the one that its row for an account belongs to, still has these secrets. Locks them against rotation
 * until the transaction ends.
 * @param secrets null: none
 * @param lock the stronger one where the credential itself is changed next
 */
export async function hasSecrets(
  tx: Tx,
  organization: OrganizationId,
  id: string,
  secrets: SealedCredential['sealedData'] | null,
  lock: 'SHARE' | 'NO KEY UPDATE' = 'SHARE',
): Promise<boolean> {
  if (secrets === null) return true;
  const [known] = await tx.query<{ same: boolean }[]>(
    `SELECT own.sealed_data = $3::jsonb AS same
     FROM credentials c JOIN credentials own ON own.id = coalesce(c.parent_id, c.id) AND own.organization_id = $1
     WHERE c.organization_id = $1 AND c.id = $2 FOR ${lock} OF own`,
    [organization, id, JSON.stringify(secrets)],
  );
  return known?.same ?? false;
}
