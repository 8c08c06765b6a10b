import type { ResourceRow } from '#entities';
import type { ResourceDto } from './dto/resource.dto';

export function toResource({ region, ...row }: ResourceRow): ResourceDto {
  return {
    ...row,
    ...(region === null ? {} : { region }),
    lastVerifiedAt: row.lastVerifiedAt?.toISOString() ?? null,
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  };
}
