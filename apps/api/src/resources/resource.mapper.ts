import type { ResourceRow } from '#tenant-store';
import type { ResourceDto } from './dto/resource.dto';

export function toResource(row: ResourceRow): ResourceDto {
  const { id, name, credentialId, credentialName, provider, resourceType, resourceIdentifier } = row;
  return {
    id,
    name,
    credentialId,
    credentialName,
    provider,
    resourceType,
    resourceIdentifier,
    ...(row.region === null ? {} : { region: row.region }),
    config: row.config,
    isActive: row.isActive,
    lastVerifiedAt: row.lastVerifiedAt?.toISOString() ?? null,
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  };
}
