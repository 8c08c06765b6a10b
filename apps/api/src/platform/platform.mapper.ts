import type { OverdueRuleRow } from '#engine-store/port';
import type { PlatformOrganizationRow } from '#tenant-store';
import type { OverdueRuleDto } from './dto/overdue-rule.dto';
import type { PlatformOrganizationDto } from './dto/platform.dto';

export const toPlatformOrganization = (row: PlatformOrganizationRow): PlatformOrganizationDto => ({
  ...row,
  suspended: row.suspendedAt !== null,
  suspendedAt: row.suspendedAt?.toISOString() ?? null,
  createdAt: row.createdAt.toISOString(),
  updatedAt: row.updatedAt.toISOString(),
});

export const toOverdueRule = (row: OverdueRuleRow): OverdueRuleDto => ({
  ...row,
  unwantedSince: row.unwantedSince.toISOString(),
});
