import { SELECT_SEALED_CREDENTIAL, type SealedCredential, type Tx } from '#entities';

/** The worker serves every organization: it follows a rule to the credential it was written with. */
export async function sealedCredentialForConvergence(
  tx: Tx,
  credentialId: string,
): Promise<SealedCredential | null> {
  const [row] = await tx.query<SealedCredential[]>(`${SELECT_SEALED_CREDENTIAL} WHERE c.id = $1`, [
    credentialId,
  ]);
  return row ?? null;
}
