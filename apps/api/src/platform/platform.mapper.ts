import type { PlatformOrganizationRow } from '#tenant-store';
import type { PlatformOrganizationDto } from './dto/platform.dto';

export const toPlatformOrganization = (row: PlatformOrganizationRow): PlatformOrganizationDto => ({
  ...row,
  status: statusOf(row),
  suspended: row.suspendedAt !== null,
  suspendedAt: row.suspendedAt?.toISOString() ?? null,
  deletedAt: row.deletedAt?.toISOString() ?? null,
  closedAt: row.closedAt?.toISOString() ?? null,
  createdAt: row.createdAt.toISOString(),
  updatedAt: row.updatedAt.toISOString(),
});

function statusOf({
  suspendedAt,
  deletedAt,
  closedAt,
}: PlatformOrganizationRow): PlatformOrganizationDto['status'] {
  if (deletedAt) return closedAt ? 'DELETED' : 'TERMINATING';
  return suspendedAt ? 'SUSPENDED' : 'ACTIVE';
}
