import type { OidcTrustRow } from '#tenant-store';
import type { OidcTrustDto } from './dto/oidc-trust.dto';

export const toOidcTrust = (
  { revision: _, ...row }: OidcTrustRow,
  audience: string,
  warnings: string[],
): OidcTrustDto => ({
  ...row,
  audience,
  warnings,
  lastUsedAt: row.lastUsedAt?.toISOString() ?? null,
  createdAt: row.createdAt.toISOString(),
  updatedAt: row.updatedAt.toISOString(),
});
