import type { CredentialRow } from '#tenant-store';
import type { CredentialDto } from './dto/credential.dto';

/** The external id is shown only where a role's trust policy needs it. */
export const toCredential = ({ externalId, ...row }: CredentialRow): CredentialDto => ({
  ...row,
  ...(row.credentialType === 'ASSUME_ROLE' ? { externalId } : {}),
  lastVerifiedAt: row.lastVerifiedAt?.toISOString() ?? null,
  createdAt: row.createdAt.toISOString(),
  updatedAt: row.updatedAt.toISOString(),
});
