import { SELECT_SEALED_CREDENTIAL, type SealedCredential, type Tx } from '#entities';

/** The sealed credential of any organization: workers serve all of them. */
export async function sealedCredentialForConvergence(
  tx: Tx,
  credentialId: string,
): Promise<SealedCredential | null> {
  const [row] = await tx.query<SealedCredential[]>(`${SELECT_SEALED_CREDENTIAL} WHERE c.id = $1`, [
    credentialId,
  ]);
  return row ?? null;
}
