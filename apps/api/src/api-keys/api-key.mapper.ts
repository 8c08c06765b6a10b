import type { ApiKeyRow } from '#entities';
import type { ApiKeyDto } from './dto/api-key.dto';

export const toApiKey = (row: ApiKeyRow): ApiKeyDto => ({
  ...row,
  revokedAt: row.revokedAt?.toISOString() ?? null,
  expiresAt: row.expiresAt?.toISOString() ?? null,
  lastUsedAt: row.lastUsedAt?.toISOString() ?? null,
  createdAt: row.createdAt.toISOString(),
});
