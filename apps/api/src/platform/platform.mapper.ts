import type { PlatformOrganizationRow } from '#tenant-store';
import type { PlatformOrganizationDto } from './dto/platform.dto';

export const toPlatformOrganization = (row: PlatformOrganizationRow): PlatformOrganizationDto => ({
  ...row,
  suspended: row.suspendedAt !== null,
  suspendedAt: row.suspendedAt?.toISOString() ?? null,
  createdAt: row.createdAt.toISOString(),
  updatedAt: row.updatedAt.toISOString(),
});
