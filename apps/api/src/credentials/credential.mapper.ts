import type { CredentialRow } from '#entities';
import type { CredentialDto } from './dto/credential.dto';

export const toCredential = (row: CredentialRow): CredentialDto => ({
  ...row,
  lastVerifiedAt: row.lastVerifiedAt?.toISOString() ?? null,
  createdAt: row.createdAt.toISOString(),
  updatedAt: row.updatedAt.toISOString(),
});
