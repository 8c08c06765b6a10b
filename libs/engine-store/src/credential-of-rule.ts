import { first, SELECT_SEALED_CREDENTIAL, type SealedCredential, type Tx } from '#entities';

/** The sealed credential of any organization: workers serve all of them. */
export async function findSealedCredential(tx: Tx, credentialId: string): Promise<SealedCredential | null> {
  return first<SealedCredential>(tx, `${SELECT_SEALED_CREDENTIAL} WHERE c.id = $1`, [credentialId]);
}
