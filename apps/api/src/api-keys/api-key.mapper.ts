import type { ApiKeyRow } from '#tenant-store';
import type { ApiKeyDto, CreatedApiKeyDto } from './dto/api-key.dto';

const times = ({ revokedAt, expiresAt, lastUsedAt, createdAt }: ApiKeyRow) => ({
  revokedAt: revokedAt?.toISOString() ?? null,
  expiresAt: expiresAt?.toISOString() ?? null,
  lastUsedAt: lastUsedAt?.toISOString() ?? null,
  createdAt: createdAt.toISOString(),
});

export const toApiKey = (row: ApiKeyRow): ApiKeyDto => ({ ...row, ...times(row) });

export const toCreatedApiKey = (row: ApiKeyRow, plainTextKey: string): CreatedApiKeyDto => ({
  ...row,
  ...times(row),
  plainTextKey,
});
